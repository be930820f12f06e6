//! Results of git verbs as text that a model reads well.
//!
//! In: what a verb did. Out: lines. Never: a push that failed and is not said to have.

use guildhall_git::{CommitDone, CommitSummary, PullDone, PushSummary, Pushed, Status};
use std::fmt::Write as _;

/// Paths of one answer.
const PATHS_MAX_COUNT: usize = 200;

pub(super) fn of_status(status: &Status) -> String {
    let mut text = format!("branch {}", status.branch);
    match &status.head {
        Some(head) => push(&mut text, format_args!(" at {head}")),
        None => text.push_str(", without a commit"),
    }
    match status.ahead_behind {
        Some((ahead, behind)) => push(
            &mut text,
            format_args!("; {ahead} ahead of the server and {behind} behind, as last heard"),
        ),
        None => text.push_str("; the server was never heard of"),
    }
    text.push('\n');
    if status.changed.is_empty() {
        text.push_str("Nothing differs.\n");
    }
    for changed in status.changed.iter().take(PATHS_MAX_COUNT) {
        // As the short form of git's status has it.
        let [index, tree] = changed
            .letters
            .map(|letter| if letter == '.' { ' ' } else { letter });
        push(&mut text, format_args!("{index}{tree} {}\n", changed.path));
    }
    let more = status.changed.len().saturating_sub(PATHS_MAX_COUNT);
    if more > 0 || status.is_cut {
        push(
            &mut text,
            format_args!("There are more paths; {more} of them were counted.\n"),
        );
    }
    for hidden in status.hidden.iter().take(PATHS_MAX_COUNT) {
        push(&mut text, format_args!("hidden by a flag: {hidden}\n"));
    }
    text.truncate(text.trim_end().len());
    text
}

pub(super) fn of_commit(summary: &CommitSummary, done: &CommitDone) -> String {
    let mut text = format!("Committed {} on {}.\n", done.commit, summary.branch);
    for file in &summary.files {
        let kind = if file.is_new { "new, " } else { "" };
        match file.lines {
            Some((come, go)) => push(
                &mut text,
                format_args!("{} ({kind}+{come} -{go})\n", file.path),
            ),
            None => push(
                &mut text,
                format_args!("{} ({kind}{} bytes)\n", file.path, file.bytes),
            ),
        }
    }
    match &done.pushed {
        Pushed::Yes => text.push_str("pushed: true"),
        Pushed::No { refusal } => push(
            &mut text,
            format_args!("pushed: false ({refusal}). The next commit's push carries this one too."),
        ),
    }
    text
}

pub(super) fn of_push(summary: &PushSummary) -> String {
    format!("Pushed {} as {}.", summary.commit, summary.branch)
}

pub(super) fn of_pull(done: &PullDone) -> String {
    if done.before.as_ref() == Some(&done.after) {
        return format!("Nothing new: the branch stays at {}.", done.after);
    }
    format!(
        "Pulled; the branch is at {}, {} paths changed.",
        done.after, done.changed
    )
}

fn push(text: &mut String, more: std::fmt::Arguments<'_>) {
    text.write_fmt(more).expect("a String takes every write");
}
