//! Calls that are lines of their own.
//!
//! In: the text outside code. Out: the tool that such a line calls. Never: a line of talk that begins
//! with the same word.

use super::{Dialect, PLACES_MAX, call};

/// The first call that is a line, or a few.
pub(super) fn find<'a>(talk: &str, offered: &'a [String]) -> Option<(Dialect, &'a str)> {
    let lines: Vec<&str> = talk
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    for (at, line) in lines.iter().enumerate() {
        if let Some(tool) = react(line, lines.get(at + 1).copied(), offered) {
            return Some((Dialect::ReAct, tool));
        }
        if let Some(rest) = line.strip_prefix(">>>")
            && let Some(tool) = call::named(rest.trim_start(), offered)
        {
            return Some((Dialect::Functionary, tool));
        }
    }
    pythonic(talk, offered).map(|tool| (Dialect::Pythonic, tool))
}

/// Whether a line says what to do next, so that code in it is no example.
pub(super) fn is_action(line: &str) -> bool {
    label(line.trim(), &["action"]).is_some()
}

/// `Action: name`, where arguments follow on this line or the next.
fn react<'a>(line: &str, next: Option<&str>, offered: &'a [String]) -> Option<&'a str> {
    let action = label(line, &["action", "tool", "function"])?;
    let is_input = |line: &str| {
        let labels = [
            "action input",
            "action_input",
            "input",
            "tool input",
            "arguments",
            "args",
        ];
        label(line, &labels).is_some()
    };
    offered.iter().map(String::as_str).find(|tool| {
        let Some(rest) = call::past(action, tool) else {
            return false;
        };
        let rest = rest.trim_start();
        let here = rest.starts_with(['(', '[', '{']);
        here || (rest.is_empty() && next.is_some_and(is_input))
    })
}

/// What stands behind a label at the start of a line, without the marks of lists and of bold text.
fn label<'t>(line: &'t str, labels: &[&str]) -> Option<&'t str> {
    let marks = |c: char| c.is_ascii_digit() || " .)*_#>-`\"'".contains(c);
    let line = line.trim_start_matches(marks);
    labels.iter().find_map(|label| {
        let head = line.get(..label.len())?;
        let rest = line[label.len()..].trim_start_matches(['*', '_', ' ']);
        let rest = rest
            .strip_prefix(':')
            .filter(|_| head.eq_ignore_ascii_case(label))?;
        Some(rest.trim_matches(|c: char| " *_`\"'".contains(c)))
    })
}

/// A list of calls in Python's way that begins a line and ends one, or an answer that is one such call.
fn pythonic<'a>(talk: &str, offered: &'a [String]) -> Option<&'a str> {
    let whole = talk.trim();
    if let Some(tool) = called(whole, offered)
        && whole.ends_with(')')
        && (whole.contains('=') || whole.contains(['"', '\'']))
    {
        return Some(tool);
    }
    let mut at = 0;
    let mut tried = 0;
    for line in talk.split_inclusive('\n') {
        let start = line.trim_start();
        let inside = start.strip_prefix('[').map(|_| {
            let from = at + line.len() - start.len() + 1;
            talk[from..].trim_start()
        });
        if let Some(inside) = inside
            && let Some(tool) = called(inside, offered)
            && closes(inside)
        {
            return Some(tool);
        }
        tried += usize::from(inside.is_some());
        if tried > PLACES_MAX {
            return None;
        }
        at += line.len();
    }
    None
}

/// The tool whose call the text begins with: a name and its round bracket.
fn called<'a>(text: &str, offered: &'a [String]) -> Option<&'a str> {
    let tool = offered.iter().find(|tool| {
        let rest = call::past(text, tool);
        rest.is_some_and(|rest| rest.starts_with('('))
    })?;
    Some(tool)
}

/// Whether the list is closed at the end of a line before a blank one.
fn closes(inside: &str) -> bool {
    let mut lines = inside.lines().map(str::trim);
    let mut last = "";
    loop {
        match lines.next() {
            None | Some("") => return false,
            Some("]") => return last.ends_with([')', ',']),
            Some(line) if line.ends_with(")]") => return true,
            Some(line) => last = line,
        }
    }
}
