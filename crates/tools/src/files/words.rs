//! Results as text that a model reads well.
//!
//! In: listings, hits, published changes. Out: lines, and what was left out and why. Never: a result
//! that is cut and does not say so.

use guildhall_confine::{
    Change, Cut, End, Entry, EntryKind, Found, How, Listing, Published, Reach, RelPath, Skipped,
};
use std::fmt::Write as _;

/// Bytes of one listing. Names with characters that cannot be seen are written out, so that the count
/// of entries alone does not bound it.
const LISTING_MAX_BYTES: usize = 128 * 1024;

/// A listing: one entry a line.
pub(super) fn of_listing(path: &RelPath, listing: &Listing) -> String {
    let mut text = match (listing.total, listing.end) {
        (0, End::Reached) => format!("{path}: nothing that can be shown\n"),
        (1, End::Reached) => format!("{path}: 1 entry\n"),
        (total, End::Reached) => format!("{path}: {total} entries\n"),
        (total, End::Cut) => format!("{path}: more than {total} entries\n"),
    };
    let mut shown = 0;
    for entry in &listing.entries {
        let line = of_entry(entry);
        if text.len() + line.len() > LISTING_MAX_BYTES {
            break;
        }
        text.push_str(&line);
        shown += 1;
    }
    if listing.withheld > 0 {
        push(
            &mut text,
            format_args!(
                "Not shown: {} with a credential in the name.",
                listing.withheld
            ),
        );
    }
    if shown + listing.withheld < listing.total {
        push(
            &mut text,
            format_args!("These are the first {shown} by name; list a folder below, or search."),
        );
    }
    text.truncate(text.trim_end().len());
    text
}

fn of_entry(entry: &Entry) -> String {
    let kind = match (entry.kind, entry.bytes) {
        (EntryKind::File, Some(1)) => "file, 1 byte".to_owned(),
        (EntryKind::File, Some(bytes)) => format!("file, {bytes} bytes"),
        (EntryKind::File, None) => "file".to_owned(),
        (EntryKind::Folder, _) => "folder".to_owned(),
        (EntryKind::Link, _) => "link, not followed".to_owned(),
        (EntryKind::Special, _) => "special file".to_owned(),
    };
    let closed = match entry.reach {
        Reach::Open => "",
        Reach::Closed => ", cannot be opened",
    };
    let slash = if entry.kind == EntryKind::Folder {
        "/"
    } else {
        ""
    };
    format!("{}{slash} ({kind}{closed})\n", entry.name)
}

/// Hits: `path:line: text`.
pub(super) fn of_search(found: &Found) -> String {
    let mut text = String::new();
    for hit in &found.hits {
        push(
            &mut text,
            format_args!("{}:{}: {}", hit.path, hit.line, hit.text),
        );
    }
    let hits = match found.hits.len() {
        0 => "No hits".to_owned(),
        1 => "1 hit".to_owned(),
        many => format!("{many} hits"),
    };
    push(
        &mut text,
        format_args!("{hits}; {} files searched.", found.files),
    );
    if !found.withheld.is_empty() {
        let names = found.withheld.iter().take(WITHHELD_MAX_COUNT);
        let names: Vec<&str> = names.map(String::as_str).collect();
        let more = found.withheld.len() - names.len();
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        push(
            &mut text,
            format_args!(
                "Matches left out, since the file holds the shape of a credential: {}{more}.",
                names.join(", ")
            ),
        );
    }
    let skipped = of_skipped(&found.skipped);
    if !skipped.is_empty() {
        push(&mut text, format_args!("Skipped: {skipped}."));
    }
    if let Some(cut) = found.cut {
        push(&mut text, format_args!("Cut short: {}", of_cut(cut)));
    }
    text.truncate(text.trim_end().len());
    text
}

/// Names of files whose hits are withheld.
const WITHHELD_MAX_COUNT: usize = 20;

fn of_skipped(skipped: &Skipped) -> String {
    let Skipped {
        links,
        hard_links,
        special,
        mounts,
        large,
        binary,
        not_utf8,
        changed,
        names,
        ignored,
        unreadable,
    } = *skipped;
    let counts = [
        (links, "symbolic links"),
        (hard_links, "files with several hard links"),
        (special, "special files"),
        (mounts, "mounts"),
        (large, "files over the size limit"),
        (binary, "binary files"),
        (not_utf8, "files that are not UTF-8"),
        (changed, "files that changed meanwhile"),
        (names, "names that cannot be opened"),
        (ignored, "names that ignore files leave out"),
        (unreadable, "unreadable"),
    ];
    let some = counts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = some
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    words.join(", ")
}

const fn of_cut(cut: Cut) -> &'static str {
    match cut {
        Cut::Depth => "folders lie too deep; search below one of them.",
        Cut::Entries => "too many names; give a path or a glob.",
        Cut::Bytes => "too many bytes; give a path or a glob.",
        Cut::Hits => "too many hits; narrow the pattern, the glob or the path.",
        Cut::Time => "the time was up; give a path or a glob.",
        Cut::Cancelled => "the call was cancelled.",
    }
}

/// A change that was made.
pub(super) fn of_published(path: &RelPath, published: Published) -> String {
    let verb = match published.change {
        Change::Create => "Created",
        Change::Replace => "Replaced",
        Change::Edit => "Edited",
    };
    let mut text = format!(
        "{verb} {path}; it has {} bytes now. The file is not committed. End your reply by naming it.",
        published.bytes
    );
    if published.how == How::Unchecked {
        text.push_str(
            " This file system cannot tell whether somebody changed the file in the last moment.",
        );
    }
    text
}

fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("a String takes every write");
}
