//! Things in a line of prose that should not be cut: inline code, URLs, links, and Discord's
//! tokens such as `<@id>`, `<#id>`, `<:name:id>` and `<t:seconds>`.
//!
//! In: a line outside code blocks. Out: the ranges that these things take. Never: a pass over the
//! line for each thing found in it.

use std::collections::BTreeMap;
use std::ops::Range;

/// Longest token in angle brackets that is looked for, and farthest that a link's text is.
const TOKEN_MAX_BYTES: usize = 200;

/// Ranges of bytes of `line` that should stay whole: sorted, apart from each other, and none of
/// more than `most` code points. A cut at either end of a range is fine.
pub(super) fn unbroken(line: &str, most: usize) -> Vec<Range<usize>> {
    if !line.contains(['`', '<', '[', ':']) {
        return Vec::new();
    }
    let mut found = inline_code(line);
    found.extend(in_angle_brackets(line));
    found.extend(urls(line));
    found.extend(links(line));
    found.retain(|range| line[range.clone()].chars().count() <= most);
    found.sort_by_key(|range| range.start);
    let mut apart: Vec<Range<usize>> = Vec::with_capacity(found.len());
    for range in found {
        match apart.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

/// A run of backticks up to the next run of the same length.
fn inline_code(line: &str) -> Vec<Range<usize>> {
    let runs = backtick_runs(line);
    let mut closer_of = vec![None; runs.len()];
    let mut next_of_length: BTreeMap<usize, usize> = BTreeMap::new();
    for (index, run) in runs.iter().enumerate().rev() {
        closer_of[index] = next_of_length.insert(run.len(), index);
    }
    let mut found = Vec::new();
    let mut index = 0;
    while index < runs.len() {
        match closer_of[index] {
            Some(closer) => {
                found.push(runs[index].start..runs[closer].end);
                index = closer + 1;
            }
            None => index += 1,
        }
    }
    found
}

fn backtick_runs(line: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in line.match_indices('`') {
        match runs.last_mut() {
            Some(last) if last.end == at => last.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// `<` to `>` without white space between.
fn in_angle_brackets(line: &str) -> Vec<Range<usize>> {
    let bytes = line.as_bytes();
    let mut found = Vec::new();
    for (start, _) in line.match_indices('<') {
        let end = (start + TOKEN_MAX_BYTES).min(bytes.len());
        let stop = bytes[start + 1..end]
            .iter()
            .position(|b| matches!(b, b'<' | b'>') || b.is_ascii_whitespace());
        if let Some(stop) = stop.map(|offset| start + 1 + offset)
            && bytes[stop] == b'>'
        {
            found.push(start..stop + 1);
        }
    }
    found
}

/// `http://` or `https://` up to white space or a bracket.
fn urls(line: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (start, _) in line.match_indices("http") {
        let after = &line[start + 4..];
        let begins = after.starts_with("://") || after.starts_with("s://");
        if !begins || found.last().is_some_and(|last| start < last.end) {
            continue;
        }
        let length = after.find(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"'));
        found.push(start..length.map_or(line.len(), |length| start + 4 + length));
    }
    found
}

/// `[text](target)`.
fn links(line: &str) -> Vec<Range<usize>> {
    let bytes = line.as_bytes();
    let mut found = Vec::new();
    let mut done = 0;
    for (middle, _) in line.match_indices("](") {
        if middle < done {
            continue;
        }
        let floor = middle.saturating_sub(TOKEN_MAX_BYTES).max(done);
        let open = bytes[floor..middle].iter().rposition(|&b| b == b'[');
        let Some(length) = bytes[middle..]
            .iter()
            .position(|b| matches!(b, b')' | b' ' | b'\t'))
        else {
            break;
        };
        let stop = middle + length;
        if let Some(open) = open
            && bytes[stop] == b')'
        {
            found.push(floor + open..stop + 1);
        }
        done = stop;
    }
    found
}
