//! What a model thought, and the marks of its template, that a server left in an answer.
//!
//! In: the text of a whole answer. Out: what was meant to be said. Never: a change inside a code fence;
//! a tool call taken away, which is told as what it is.

use crate::fence::Fence;

/// Tags around thoughts.
const TAGS: [(&str, &str); 9] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
];

/// Marks that end a message in a template.
const ENDS: [&str; 13] = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|end|>",
    "<|return|>",
    "<|END_OF_TURN_TOKEN|>",
    "<end_of_turn>",
    "<｜end▁of▁sentence｜>",
    "</s>",
    "<eos>",
];

/// Marks that begin the next message in a template: what a model invents behind them is no answer.
const BEGINS: [&str; 5] = [
    "<|im_start|>",
    "<|start_header_id|>",
    "<start_of_turn>",
    "<|start|>",
    "<｜User｜>",
];

/// Takes thoughts and marks out.
pub(super) fn without(text: &str) -> String {
    let text = final_channel(text).unwrap_or_else(|| text.to_owned());
    let text = without_leading(&text);
    let text = without_blocks(text);
    without_ends(&text).to_owned()
}

/// An answer in channels: what was said in the last one. One with a call is left as it is.
fn final_channel(text: &str) -> Option<String> {
    let start = text.trim_start();
    if !start.starts_with("<|channel|>") && !start.starts_with("<|start|>") {
        // The same where a server dropped the marks and kept their words.
        let thoughts = start.strip_prefix("analysis")?;
        return Some(thoughts.rsplit_once("assistantfinal")?.1.to_owned());
    }
    let mut said = String::new();
    for segment in start.split("<|channel|>").skip(1) {
        let (head, body) = segment.split_once("<|message|>")?;
        if head.contains("to=") {
            return None;
        }
        let marks = ["<|end|>", "<|return|>", "<|start|>"];
        let end = marks.iter().filter_map(|mark| body.find(mark)).min();
        if head.trim().starts_with("final") {
            said.push_str(&body[..end.unwrap_or(body.len())]);
        }
    }
    Some(said)
}

/// Thoughts at the start, between tags, or before a closing tag that stands alone on its line, where the
/// opening one was part of the prompt.
fn without_leading(text: &str) -> &str {
    let mut text = text;
    while let Some((open, close)) = TAGS
        .iter()
        .find(|(open, _)| text.trim_start().starts_with(open))
    {
        let inside = text.trim_start().strip_prefix(open).unwrap_or_default();
        text = inside.split_once(close).map_or("", |(_, answer)| answer);
    }
    for (open, close) in TAGS {
        if !text.contains(open)
            && let Some(end) = lone_line(text, close)
        {
            return &text[end..];
        }
    }
    text
}

/// Where the first line that is exactly `word` ends, fences left out.
fn lone_line(text: &str, word: &str) -> Option<usize> {
    let mut fence = Fence::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        if !fence.holds(line) && line.trim() == word {
            return Some(at);
        }
    }
    None
}

/// Takes out blocks that begin a line in the middle of an answer and that are closed.
fn without_blocks(text: &str) -> String {
    let mut fence = Fence::default();
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    // Tags that are closed nowhere: each is looked for once.
    let mut unclosed: Vec<&str> = Vec::new();
    while !rest.is_empty() {
        let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let line = &rest[..end];
        let opened = TAGS
            .iter()
            .find(|(open, _)| line.trim_start().starts_with(open));
        let opened = opened.filter(|(_, close)| !fence.is_open() && !unclosed.contains(close));
        if let Some((_, close)) = opened {
            if let Some(closed) = rest.find(close) {
                rest = rest[closed + close.len()..].trim_start_matches([' ', '\t']);
                continue;
            }
            unclosed.push(close);
        }
        fence.holds(line);
        shown.push_str(line);
        rest = &rest[end..];
    }
    shown
}

/// Takes away the marks at the end, and a next message that the model invented behind one.
fn without_ends(text: &str) -> &str {
    let mut text = text;
    let mut fence = Fence::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if !fence.holds(line)
            && BEGINS
                .iter()
                .any(|mark| line.trim_start().starts_with(mark))
            && ENDS
                .iter()
                .any(|mark| text[..at].trim_end().ends_with(mark))
        {
            text = &text[..at];
            break;
        }
        at += line.len();
    }
    loop {
        let trimmed = text.trim_end();
        let Some(mark) = ENDS.iter().find(|mark| trimmed.ends_with(*mark)) else {
            return text;
        };
        text = &trimmed[..trimmed.len() - mark.len()];
    }
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn thoughts_and_marks_go_and_talk_of_them_stays() {
        let cases = [
            ("<reasoning>hm</reasoning>\n<think>hm</think>yes", "yes"),
            ("[THINK]hm[/THINK]yes", "yes"),
            ("<thought>never closed", ""),
            ("first\n<think>\nhm\n</think>\nlast", "first\n\nlast"),
            (
                "first\n<think> opens a thought",
                "first\n<think> opens a thought",
            ),
            (
                "it writes <think>hm</think> first",
                "it writes <think>hm</think> first",
            ),
            (
                "```\n<think>hm</think>\n```\nyes",
                "```\n<think>hm</think>\n```\nyes",
            ),
            (
                "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>yes<|return|>",
                "yes",
            ),
            ("<|channel|>analysis<|message|>hm", ""),
            ("analysisWe think so.assistantfinalyes", "yes"),
            ("analysis of the data", "analysis of the data"),
            ("yes<|im_end|>", "yes"),
            ("yes </s><|eot_id|>\n", "yes "),
            ("yes<|im_end|>\n<|im_start|>user\nmore?", "yes"),
            (
                "the mark <|im_end|> ends a message",
                "the mark <|im_end|> ends a message",
            ),
            ("yes <end_of_turn>\n<start_of_turn>user\nx", "yes "),
        ];
        for (text, want) in cases {
            assert_eq!(without(text), want, "{text:?}");
        }
        let call = "<|channel|>commentary to=functions.read<|message|>{}";
        assert_eq!(without(call), call, "a call is told as one");
    }

    #[test]
    fn an_answer_of_nothing_but_tags_costs_no_square() {
        for piece in [
            "<think>",
            "\n<think>",
            "</think>\n",
            "<|im_end|>",
            "<|channel|>",
            "x\n<think>\n",
            "◁think▷\n",
        ] {
            drop(without(&piece.repeat(200_000 / piece.len())));
        }
    }
}
