//! Searches a tree by descriptors and with ripgrep, in turn, and prints how they compare.
//!
//! ```text
//! cargo run --release -p guildhall-confine --example search_ratio -- FOLDER [RIPGREP]
//! cargo run --release -p guildhall-confine --example search_ratio -- generated [RIPGREP]
//! ```
//!
//! `generated` makes a tree of its own, the same each time, in a temporary folder.
//!
//! Both are asked for the same: hidden names and ignored ones left out, files up to 256 KiB, no
//! memory maps, lines with their numbers, all hits. ripgrep runs with one thread, as we do, and once
//! more as it comes. Each is run in turn and the best of its runs counts, the first aside, which
//! warms the cache. The last column is what a tool asks for: it ends at a hundred hits, while ripgrep
//! has no such end and still reads the whole tree.

#![expect(clippy::print_stdout, reason = "a program whose output is the point")]

use guildhall_confine::{
    Access, FileLimit, Found, Pattern, Query, RelPath, Root, SearchBounds, WalkBounds,
};
use std::{
    env,
    error::Error,
    fs,
    path::Path,
    process::{Command, Stdio},
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

const RUNS: usize = 7;
const PATTERNS: [(&str, &str); 3] = [
    ("a rare literal", "permit_that_is_not_there"),
    ("a common word", "unsafe"),
    ("no literal in it", r"[A-Z][a-z]{3,}Err\w*\("),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let folder = arguments.next().ok_or("a folder is needed")?;
    let generated = (folder == "generated").then(generate).transpose()?;
    let folder = match &generated {
        Some(place) => place.path().to_string_lossy().into_owned(),
        None => folder,
    };
    let ripgrep = arguments.next().unwrap_or_else(|| "rg".to_owned());
    let root = Root::open_ambient(Path::new(&folder), Access::Read)?;
    println!(
        "| pattern | files | MB | hits | ours, ms | ripgrep -j1, ours = 1 | ripgrep, ours = 1 | ripgrep, tool = 1 |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for (name, pattern) in PATTERNS {
        let [mut ours, mut one, mut many, mut tool] = [Duration::MAX; 4];
        let mut found = Found::default();
        for run in 0..=RUNS {
            let started = Instant::now();
            found = search(&root, pattern, &all())?;
            let took = [
                started.elapsed(),
                other(&ripgrep, &["-j1"], pattern, &folder)?,
                other(&ripgrep, &[], pattern, &folder)?,
                as_a_tool(&root, pattern)?,
            ];
            if run > 0 {
                ours = ours.min(took[0]);
                one = one.min(took[1]);
                many = many.min(took[2]);
                tool = tool.min(took[3]);
            }
        }
        let ratio = |other: Duration, ours: Duration| other.as_secs_f64() / ours.as_secs_f64();
        println!(
            "| {name} | {} | {} | {} | {} | {:.2} | {:.2} | {:.2} |",
            found.files,
            found.bytes / 1_000_000,
            found.hits.len(),
            ours.as_millis(),
            ratio(one, ours),
            ratio(many, ours),
            ratio(many, tool),
        );
        if let Some(cut) = found.cut {
            println!("cut short by {cut:?}: {:?}", found.skipped);
        }
    }
    Ok(())
}

/// Everything, as ripgrep is asked for it.
fn all() -> SearchBounds {
    SearchBounds {
        walk: WalkBounds {
            depth: 64,
            entries: 10_000_000,
            time: Duration::from_secs(600),
        },
        file: FileLimit::bytes(256 * 1024),
        read_bytes: u64::MAX,
        hits: 10_000_000,
        output_bytes: usize::MAX,
        line_chars: 400,
    }
}

fn search(root: &Root, pattern: &str, bounds: &SearchBounds) -> Result<Found, Box<dyn Error>> {
    let (path, never) = (RelPath::root(), AtomicBool::new(false));
    let query = Query {
        pattern: Pattern::Regex(pattern),
        glob: None,
        path: &path,
    };
    Ok(root.search(&query, bounds, &never)?)
}

fn as_a_tool(root: &Root, pattern: &str) -> Result<Duration, Box<dyn Error>> {
    let started = Instant::now();
    search(root, pattern, &SearchBounds::default())?;
    Ok(started.elapsed())
}

/// Twenty thousand files in four hundred folders, of lines that look like source text.
fn generate() -> Result<tempfile::TempDir, Box<dyn Error>> {
    // The first ones are common, the last ones rare, as in a text.
    const WORDS: [&str; 24] = [
        "self",
        "=",
        "{",
        "}",
        "let",
        "value",
        "fn",
        "path",
        "->",
        "index",
        "Result",
        "match",
        "return",
        "error",
        "impl",
        "pub",
        "buffer",
        "length",
        "while",
        "struct",
        "// a remark",
        "0x1f",
        "ParseError(input)",
        "unsafe",
    ];
    let place = tempfile::Builder::new().prefix("search-ratio-").tempdir()?;
    let mut rng = fastrand::Rng::with_seed(1);
    for folder in 0..400 {
        let folder = place
            .path()
            .join(format!("part{}/folder{folder:03}", folder % 20));
        fs::create_dir_all(&folder)?;
        for file in 0..50 {
            let mut text = String::new();
            for _ in 0..rng.usize(20..400) {
                for _ in 0..rng.usize(1..10) {
                    let rank = rng.usize(..WORDS.len()).min(rng.usize(..WORDS.len()));
                    text.push_str(WORDS[rank]);
                    text.push(' ');
                }
                text.push('\n');
            }
            fs::write(folder.join(format!("file{file:02}.rs")), text)?;
        }
    }
    Ok(place)
}

fn other(
    program: &str,
    more: &[&str],
    pattern: &str,
    folder: &str,
) -> Result<Duration, Box<dyn Error>> {
    let started = Instant::now();
    // 1 is its way of saying that there is no hit.
    let status = Command::new(program)
        .args([
            "--no-config",
            "--no-mmap",
            "--no-require-git",
            "--no-ignore-global",
        ])
        .args([
            "--no-ignore-parent",
            "--max-filesize",
            "256K",
            "--line-number",
            "--no-heading",
        ])
        .args(more)
        .args(["-e", pattern, "--", folder])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?
        .wait_with_output()?
        .status;
    let took = started.elapsed();
    match status.code() {
        Some(0 | 1) => Ok(took),
        other => Err(format!("{program} ended with {other:?}").into()),
    }
}
