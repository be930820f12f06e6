//! One exact replacement in the bytes of a file.
//!
//! In: the file's bytes, the text to replace, its replacement. Out: the new bytes, or why there are
//! none.
//! Never: decodes, normalises or re-joins lines: every byte outside the replaced range survives as
//! it was, byte order mark, CRLF and missing final newline included.

use memchr::memmem;

use crate::{Hint, Refusal};

/// Replaces the one occurrence of `old` in `file` by `new`.
///
/// Occurrences are counted as bytes, overlapping ones too: `aa` occurs twice in `aaa`. Linear in the
/// lengths of `file` and `old`.
///
/// # Errors
/// [`Refusal::EmptyOld`], [`Refusal::NoChange`], [`Refusal::NotUtf8`] when the file is not,
/// [`Refusal::NoMatch`] with what is known about line ends, or [`Refusal::Ambiguous`] with the count.
pub fn splice(file: &[u8], old: &str, new: &str) -> Result<Vec<u8>, Refusal> {
    if old.is_empty() {
        return Err(Refusal::EmptyOld);
    }
    if old == new {
        return Err(Refusal::NoChange);
    }
    if std::str::from_utf8(file).is_err() {
        return Err(Refusal::NotUtf8);
    }
    let old_bytes = old.as_bytes();
    let Some(start) = memmem::find(file, old_bytes) else {
        return Err(Refusal::NoMatch(hint(file, old)));
    };
    if memmem::find(&file[start + 1..], old_bytes).is_some() {
        return Err(Refusal::Ambiguous(occurrences(file, old_bytes)));
    }
    let end = start + old_bytes.len();
    Ok([&file[..start], new.as_bytes(), &file[end..]].concat())
}

/// How often `needle` occurs, overlapping occurrences included (Knuth, Morris, Pratt). A search that
/// starts again one byte further would take the product of the lengths on repetitive text.
fn occurrences(file: &[u8], needle: &[u8]) -> usize {
    let borders = borders(needle);
    let (mut matched, mut count) = (0, 0);
    for byte in file {
        while matched > 0 && needle[matched] != *byte {
            matched = borders[matched - 1];
        }
        if needle[matched] == *byte {
            matched += 1;
        }
        if matched == needle.len() {
            count += 1;
            matched = borders[matched - 1];
        }
    }
    count
}

/// For each prefix of `needle` the length of its longest proper prefix that is also its suffix.
fn borders(needle: &[u8]) -> Vec<usize> {
    let mut borders = vec![0; needle.len()];
    let mut length = 0;
    for at in 1..needle.len() {
        while length > 0 && needle[at] != needle[length] {
            length = borders[length - 1];
        }
        if needle[at] == needle[length] {
            length += 1;
        }
        borders[at] = length;
    }
    borders
}

/// Whether other line ends would have made `old` occur.
fn hint(file: &[u8], old: &str) -> Hint {
    let lf = old.replace("\r\n", "\n");
    let crlf = lf.replace('\n', "\r\n");
    let occurs = |text: &str| memmem::find(file, text.as_bytes()).is_some();
    if crlf != old && occurs(&crlf) {
        Hint::FileHasCrlf
    } else if lf != old && occurs(&lf) {
        Hint::FileHasLf
    } else {
        Hint::None
    }
}

#[cfg(test)]
mod tests;
