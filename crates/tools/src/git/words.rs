//! Results of git verbs as text that a model reads well.
//!
//! In: what a verb did. Out: lines, of 4 KiB in all at most, that say how many are left out. Never: a
//! push that failed and is not said to have, however long the rest is.

use guildhall_git::{
    CommitDone, CommitFile, CommitSummary, PullDone, PushSummary, Pushed, SHOWN_MAX_BYTES, Status,
};

/// What is kept free for the line that says how many were left out.
const REST_BYTES: usize = 64;

pub(super) fn of_status(status: &Status) -> String {
    let head = match &status.head {
        Some(head) => format!(" at {head}"),
        None => ", without a commit".to_owned(),
    };
    let server = match status.ahead_behind {
        Some((ahead, behind)) => {
            format!("{ahead} ahead of the server and {behind} behind, as last heard")
        }
        None => "the server was never heard of".to_owned(),
    };
    let first = format!("branch {}{head}; {server}", status.branch);
    let mut lines = Vec::new();
    if status.changed.is_empty() {
        lines.push("Nothing differs.".to_owned());
    }
    for hidden in &status.hidden {
        lines.push(format!("hidden by a flag: {hidden}"));
    }
    for changed in &status.changed {
        // As the short form of git's status has it.
        let [index, tree] = changed
            .letters
            .map(|letter| if letter == '.' { ' ' } else { letter });
        lines.push(format!("{index}{tree} {}", changed.path));
    }
    let last = status
        .is_cut
        .then_some("There are more paths, which were not counted.");
    within_bound(first, &lines, last.unwrap_or_default())
}

pub(super) fn of_commit(summary: &CommitSummary, done: &CommitDone) -> String {
    let first = format!("Committed {} on {}.", done.commit, summary.branch);
    let lines: Vec<String> = summary.files.iter().map(of_file).collect();
    let last = match &done.pushed {
        Pushed::Yes => "pushed: true".to_owned(),
        Pushed::No { refusal } => {
            format!("pushed: false ({refusal}). The next commit's push carries this one too.")
        }
    };
    within_bound(first, &lines, &last)
}

fn of_file(file: &CommitFile) -> String {
    let kind = if file.is_new { "new, " } else { "" };
    match file.lines {
        Some((come, go)) => format!("{} ({kind}+{come} -{go})", file.path),
        None => format!("{} ({kind}{} bytes)", file.path, file.bytes),
    }
}

/// The first and the last line, and as many of those in between as there is room for.
fn within_bound(first: String, lines: &[String], last: &str) -> String {
    let mut text = first;
    let room = SHOWN_MAX_BYTES.saturating_sub(last.len() + REST_BYTES);
    for (index, line) in lines.iter().enumerate() {
        if text.len() + line.len() >= room {
            let left = lines.len() - index;
            text.push_str(&format!("\nand {left} more lines, left out"));
            break;
        }
        text.push('\n');
        text.push_str(line);
    }
    if !last.is_empty() {
        text.push('\n');
        text.push_str(last);
    }
    text
}

pub(super) fn of_push(summary: &PushSummary) -> String {
    format!("Pushed {} as {}.", summary.commit, summary.branch)
}

pub(super) fn of_no_push(summary: &PushSummary) -> String {
    format!(
        "Nothing to push: the server has {}, as last heard of it.",
        summary.commit
    )
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

#[cfg(test)]
mod tests {
    use super::{SHOWN_MAX_BYTES, within_bound};

    #[test]
    fn a_long_answer_says_how_much_is_left_out_and_keeps_its_last_line() {
        let whole = within_bound("first".to_owned(), &["one".to_owned()], "last");
        assert_eq!(whole, "first\none\nlast");
        let lines = vec!["é".repeat(100); 500];
        let cut = within_bound("first".to_owned(), &lines, "pushed: false");
        assert!(cut.len() <= SHOWN_MAX_BYTES, "{}", cut.len());
        let kept = cut.lines().filter(|line| line.starts_with('é')).count();
        assert!(kept > 10);
        let left = format!(
            "and {} more lines, left out\npushed: false",
            lines.len() - kept
        );
        assert!(cut.ends_with(&left), "{cut}");
    }
}
