//! What a change does to a text, line by line.
//!
//! In: the text before and after. Out: one hunk in the unified form, with three lines around it.
//! Never: a claim about where a line went; lines that differ stand as gone and come. A byte of a line
//! that is not the text's own.
//!
//! A workspace's edit replaces one stretch of a file, so that what both texts share at their
//! beginning and end is all there is to find. Linear in the lengths of both.

use std::fmt::Write as _;

/// Lines that are shown before and after what differs.
const CONTEXT_LINES: usize = 3;

/// The difference of two texts that differ, exactly: the card writes out what cannot be seen.
pub(crate) fn unified(path: &str, before: &str, after: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let shared = |mut pairs: Vec<(&str, &str)>| {
        let differs = pairs.iter().position(|(one, other)| one != other);
        pairs.truncate(differs.unwrap_or(pairs.len()));
        pairs.len()
    };
    let head = shared(old.iter().copied().zip(new.iter().copied()).collect());
    let rest = old[head..].iter().rev().copied();
    let tail = shared(rest.zip(new[head..].iter().rev().copied()).collect());
    let from = head.saturating_sub(CONTEXT_LINES);
    let kept_after = tail.min(CONTEXT_LINES);
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let mut text = format!("--- {path}\n+++ {path}\n");
    let range = |end: usize| {
        let count = end + kept_after - from;
        // An empty side names the line before it.
        let first = if count == 0 { from } else { from + 1 };
        format!("{first},{count}")
    };
    writeln!(text, "@@ -{} +{} @@", range(old_end), range(new_end))
        .expect("a String takes every write");
    push(&mut text, ' ', &old[from..head]);
    push(&mut text, '-', &old[head..old_end]);
    push(&mut text, '+', &new[head..new_end]);
    push(&mut text, ' ', &old[old_end..old_end + kept_after]);
    text
}

fn push(text: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (*line, "\n\\ No newline at end of file\n"),
        };
        text.push(sign);
        text.push_str(line);
        text.push_str(end);
    }
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn a_difference_shows_what_goes_and_what_comes() {
        let cases = [
            (
                "a\nb\nc\n",
                "a\nB\nc\n",
                "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
            ),
            ("", "a\n", "@@ -0,0 +1,1 @@\n+a\n"),
            ("a\n", "", "@@ -1,1 +0,0 @@\n-a\n"),
            ("a\na\n", "a\na\na\n", "@@ -1,2 +1,3 @@\n a\n a\n+a\n"),
            (
                "a",
                "a\n",
                "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n",
            ),
            ("a\r\n", "a\n", "@@ -1,1 +1,1 @@\n-a\r\n+a\n"),
            (
                "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
                "1\n2\n3\n4\n5!\n6\n7\n8\n9\n",
                "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+5!\n 6\n 7\n 8\n",
            ),
            (
                "x\u{202e}y\n",
                "xy\n",
                "@@ -1,1 +1,1 @@\n-x\u{202e}y\n+xy\n",
            ),
        ];
        for (before, after, want) in cases {
            let is = unified("f", before, after);
            assert_eq!(is, format!("--- f\n+++ f\n{want}"), "{before:?} {after:?}");
        }
    }
}
