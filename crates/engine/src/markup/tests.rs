//! Calls in every known dialect, and talk that only looks like them.

use super::*;

const OFFERED: [&str; 3] = ["read", "workspace_read", "search"];

fn found(text: &str) -> Option<(&'static str, String)> {
    let offered = OFFERED.map(str::to_owned);
    raw_call(text, &offered).map(|call| (call.dialect.code(), call.tool))
}

const CALLS: &[(&str, &str)] = &[
    (
        "hermes",
        "< Tool_Call id=\"1\" >{\"name\": \"read\", \"arguments\": {}}",
    ),
    (
        "hermes",
        "<tool_call>{\"name\": \"functions.read\", \"arguments\": {}}</tool_call>",
    ),
    (
        "hermes",
        "<tool_call>{\"name\": \"mcp__files__read\", \"arguments\": {}}</tool_call>",
    ),
    ("hermes", "<use_tool name='read'/>"),
    (
        "hermes",
        "<tool_use><name>read</name><arguments>{}</arguments></tool_use>",
    ),
    (
        "hermes",
        "<function_call>{\"name\": \"read\", \"arguments\": \"{}\"}",
    ),
    (
        "hermes",
        "<use_mcp_tool>\n<tool_name>read</tool_name>\n<arguments>{}</arguments>\n</use_mcp_tool>",
    ),
    (
        "hermes",
        "<function_calls><invoke><tool_name>read</tool_name><parameters>",
    ),
    (
        "nemotron",
        "<TOOLCALL>[{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}]</TOOLCALL>",
    ),
    ("llama", "<|python_start|>[read(path=\"a\")]<|python_end|>"),
    (
        "gemma",
        "<|tool_call>call:read{path:<|\"|>a<|\"|>}<tool_call|>",
    ),
    (
        "harmony",
        "commentary to=functions.read json{\"path\": \"a\"}",
    ),
    (
        "harmony",
        "assistant to=functions.read<|channel|>commentary json<|message|>{}",
    ),
    ("bracket", "[Tool Call: read(path=\"a\")]"),
    ("bracket", "[tool_call: read({\"path\": \"a\"})]"),
    (
        "pythonic",
        "[\n  read(path=\"a\"),\n  search(query=\"b\")\n]",
    ),
    ("pythonic", "[read(\n  path=\"a\",\n)]"),
    (
        "react",
        "Thought: I need it\n**Action:** `read`\n**Action Input:** {\"path\": \"a\"}",
    ),
    ("react", "1. Action : read\n2. Action Input : a"),
    ("react", "Action: read(path=\"a\")"),
    ("react", "Action: read[a]"),
    ("named-tag", "<workspace_read path=\"a\"/>"),
    (
        "named-tag",
        "<Workspace_Read>\n<path>a</path>\n</Workspace_Read>",
    ),
    (
        "named-tag",
        "<workspace_read>{\"path\": \"a\"}</workspace_read>",
    ),
    ("named-tag", "<read>\n<path>a</path>\n</read>"),
    (
        "json",
        "{\"function_call\": {\"name\": \"read\", \"arguments\": \"{}\"}}",
    ),
    (
        "json",
        "{\"tool_uses\": [{\"recipient_name\": \"functions.read\", \"parameters\": {}}]}",
    ),
    (
        "json",
        "{\"action\": \"read\", \"action_input\": {\"path\": \"a\"}}",
    ),
    (
        "json",
        "{\"functionCall\": {\"name\": \"read\", \"args\": {}}}",
    ),
    (
        "json",
        "{\"toolUse\": {\"name\": \"Workspace-Read\", \"input\": {}}}",
    ),
    (
        "json",
        "{\"method\": \"tools/call\", \"params\": {\"name\": \"read\", \"arguments\": {}}}",
    ),
    (
        "hermes",
        "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>",
    ),
    (
        "hermes",
        "<tool_call>{\"arguments\": {\"path\": \"a\"}, \"name\": \"read\"}</tool_call>",
    ),
    (
        "hermes",
        "<tool_call>{'name': 'read', 'arguments': {'path': 'a'}}",
    ),
    (
        "hermes",
        "<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n</tool_call>",
    ),
    (
        "function-tag",
        "<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>",
    ),
    (
        "function-tag",
        "<function=read>{\"path\": \"a\"}</function>",
    ),
    (
        "function-tag",
        "<function name=\"read\"><param name=\"path\">a</param></function>",
    ),
    (
        "hermes",
        "<|tool_call|>[{\"name\": \"read\", \"arguments\": {}}]",
    ),
    (
        "hermes",
        "<tool_calls>[{\"name\": \"read\", \"arguments\": {}}]</tool_calls>",
    ),
    (
        "function-tag",
        "<seed:tool_call><function=read><parameter=path>a</parameter></function>",
    ),
    (
        "hermes",
        "<longcat_tool_call>read\n<longcat_arg_key>path</longcat_arg_key>",
    ),
    ("hermes", "<tool_use name=\"read\">{}</tool_use>"),
    (
        "invoke",
        "<function_calls>\n<invoke name=\"read\">\n<parameter name=\"path\">a</parameter>",
    ),
    (
        "invoke",
        "<ns:invoke name=\"read\"><ns:parameter name=\"path\">a",
    ),
    (
        "minimax",
        "<minimax:tool_call>\n<invoke name=\"read\">\n<parameter name=\"path\">a",
    ),
    ("minimax", "minimax:tool_call read {\"path\": \"a\"}"),
    (
        "minimax",
        "minimax:tool_call\n{\"name\": \"read\", \"arguments\": {}}",
    ),
    (
        "deepseek",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read\n```json\n{\"path\": \"a\"}\n```<｜tool▁call▁end｜>",
    ),
    (
        "deepseek",
        "<｜tool▁call▁begin｜>read<｜tool▁sep｜>{\"path\": \"a\"}<｜tool▁call▁end｜>",
    ),
    (
        "invoke",
        "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"read\">",
    ),
    (
        "deepseek",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{}",
    ),
    (
        "mistral",
        "[TOOL_CALLS][{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}]",
    ),
    ("mistral", "[TOOL_CALLS]read[ARGS]{\"path\": \"a\"}"),
    ("mistral", "[TOOL_CALLS]read{\"path\": \"a\"}"),
    (
        "llama",
        "<|python_tag|>{\"name\": \"read\", \"parameters\": {\"path\": \"a\"}}",
    ),
    ("llama", "<|python_tag|>read.call(path=\"a\")"),
    (
        "internlm",
        "<|action_start|><|plugin|>\n{\"name\": \"read\", \"parameters\": {}}<|action_end|>",
    ),
    (
        "cohere",
        "<|START_ACTION|>[{\"tool_call_id\": \"0\", \"tool_name\": \"read\", \"parameters\": {}}]<|END_ACTION|>",
    ),
    (
        "harmony",
        "<|start|>assistant<|channel|>commentary to=functions.read <|constrain|>json<|message|>{}",
    ),
    (
        "harmony",
        "<|channel|>commentary to=read <|constrain|>json<|message|>{}",
    ),
    (
        "gemma",
        "<start_function_call>call:read{path:<escape>a<escape>}<end_function_call>",
    ),
    ("gemma", "print(default_api.read(path=\"a\"))"),
    (
        "functools",
        "functools[{\"name\": \"read\", \"arguments\": {}}]",
    ),
    ("bracket", "[tool:read] {\"path\": \"a\"}"),
    ("bracket", "[TOOL: workspace_read]\n{\"path\": \"a\"}"),
    ("bracket", "[Tool Call: read {\"path\": \"a\"}]"),
    (
        "bracket",
        "[TOOL_CALL]\n{tool => \"read\", args => {\n  --path \"a\"\n}}\n[/TOOL_CALL]",
    ),
    ("functionary", ">>>read\n{\"path\": \"a\"}"),
    ("pythonic", "[read(path=\"a\"), search(query=\"b\")]"),
    (
        "react",
        "Thought: I need it\nAction: read\nAction Input: {\"path\": \"a\"}",
    ),
    (
        "named-tag",
        "<workspace_read>\n<path>a</path>\n</workspace_read>",
    ),
    (
        "json",
        "{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}",
    ),
    ("json", "[{\"name\": \"read\", \"parameters\": {}}]"),
    (
        "json",
        "{\"type\": \"function\", \"function\": {\"name\": \"read\", \"arguments\": \"{}\"}}",
    ),
    (
        "json",
        "{\"tool_calls\": [{\"name\": \"read\", \"arguments\": {}}]}",
    ),
];

#[test]
fn a_call_is_found_in_every_dialect_alone_and_after_prose() {
    for (dialect, text) in CALLS {
        for shown in [
            (*text).to_owned(),
            format!("I will look at the file.\n\n{text}"),
        ] {
            let (code, tool) = found(&shown).unwrap_or_default();
            assert_eq!(code, *dialect, "{shown}");
            assert!(OFFERED.contains(&tool.as_str()), "{shown}");
        }
    }
}

#[test]
fn a_tool_that_was_not_offered_is_no_call() {
    for (dialect, text) in CALLS {
        let other = text
            .to_lowercase()
            .replace("read", "frobnicate")
            .replace("search", "frobnicate");
        assert_eq!(found(&other), None, "{dialect}: {other}");
        assert_eq!(raw_call(text, &[]), None, "{dialect}: {text}");
        let longer = text
            .to_lowercase()
            .replace("workspace_read", "read")
            .replace("read", "read_more");
        assert_eq!(found(&longer), None, "{dialect}: {longer}");
    }
}

#[test]
fn an_example_in_code_is_talk() {
    for (dialect, text) in CALLS {
        let fenced =
            format!("It looks like this:\n\n~~~~text\n{text}\n~~~~\n\nas the template says.");
        assert_eq!(found(&fenced), None, "{dialect}: {fenced}");
        if !text.contains(['\n', '`']) {
            let inline = format!("It writes `{text}` then.");
            assert_eq!(found(&inline), None, "{dialect}: {inline}");
        }
    }
}

#[test]
fn a_fence_is_a_call_only_where_it_says_so_or_stands_alone() {
    let json = "{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}";
    let is_call = [
        format!("```json\n{json}\n```"),
        format!("```\n[{json}]\n```\n"),
        format!("Let me look.\n```tool_call\n{json}\n```"),
        "Let me look.\n```tool_code\nread(path=\"a\")\n```".to_owned(),
        "```tool_code\nprint(default_api.read(path=\"a\"))\n```".to_owned(),
        format!("I will read the file.\n```json\n{json}\n```"),
        format!("```xml\n<tool_call>{json}</tool_call>\n```"),
        "```python\nread(path=\"a\")\n```".to_owned(),
    ];
    for text in is_call {
        assert_eq!(found(&text).map(|(code, _)| code), Some("fenced"), "{text}");
    }
    let is_talk = [
        format!("Send this:\n```json\n{json}\n```"),
        format!("I will show you an example.\n```json\n{json}\n```"),
        format!("Such a call is\n```json\n{json}\n```"),
        format!("```json\n{json}\n```\nis what it sends."),
        format!("```tool_call\n{json}\n```\nis what it sends."),
        format!("```json\n{json}\n```\n```json\n{json}\n```"),
        "```rust\nread(path);\n```".to_owned(),
        "```json\n{\"name\": \"read\", \"version\": 1}\n```".to_owned(),
    ];
    for text in is_talk {
        assert_eq!(found(&text), None, "{text}");
    }
}

#[test]
fn ordinary_talk_is_no_call() {
    let talk = [
        "",
        "You can read the file and search in it.",
        "Qwen writes <tool_call> when it wants to read a file.",
        "The tag <tool_call> opens a call, and </tool_call> closes it.",
        "<ul><li>read</li><li>search</li></ul>",
        "<read>not a tool call</read>",
        "[tool: read] is the label of the first button.",
        "- [read](https://example.test)",
        "Action: read the manual first.",
        "Action: read\n\nThen think about it.",
        "{\"name\": \"read\"}",
        "{\"name\": \"Ana\", \"arguments\": {}}",
        "call read(path) from your program",
        "[read the docs]",
        ">>> read the docs",
        "> quoted: read it",
        "he said to=functions.other",
        "Please invoke name=\"read\" in your shell.",
        "It ends so:\n```\n<tool_call>{\"name\": \"read\", \"arguments\": {}}</tool_call>",
        "<search>bees</search> and <read/> are tags",
        "The row <read><b>x</b></read> stands in a table.",
        "<tool>read</tool> is how they name it",
        "{\"tools\": [{\"name\": \"read\", \"description\": \"reads\"}]}",
        "{\n  \"example\": {\"name\": \"read\", \"arguments\": {}}\n}",
        "[read, search]",
        "[read(1)] is a footnote",
        "read() reads",
        "Reaction: read\nInput: none",
        "Action: read the manual\nAction input: none",
        "[Tool Call: reading (later)]",
    ];
    for text in talk {
        assert_eq!(found(text), None, "{text}");
    }
}

#[test]
fn the_record_names_the_tool_and_the_dialect() {
    let offered = OFFERED.map(str::to_owned);
    let call = raw_call("[tool:read] {}", &offered).expect("a call");
    let noted = call.as_tool_use();
    assert_eq!(
        (
            noted.name.as_str(),
            noted.outcome.as_str(),
            noted.reason.as_deref()
        ),
        ("read", "refused", Some("raw-tool-call-bracket"))
    );
}

#[test]
fn an_answer_of_nothing_but_marks_is_looked_at_within_a_bound() {
    for piece in [
        "<tool_call>{",
        "{\"a\": \"\n\n",
        "[\n\n",
        "`",
        "invoke name=",
        "[tool:",
        "<tool_call>{\"arguments\": \"",
        "<read><",
        "<workspace_read></",
        "[read(",
        "Action: read\n",
        "{\"a\":\n",
    ] {
        let text = piece.repeat(200_000 / piece.len());
        assert_eq!(found(&text), None, "{piece}");
    }
}
