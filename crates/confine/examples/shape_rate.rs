//! Looks for shapes of credentials in every text file of a tree, and prints how fast, how many files
//! are refused and by which family. No text is printed.
//!
//! ```text
//! cargo run --release -p guildhall-confine --example shape_rate -- FOLDER
//! ```

#![expect(clippy::print_stdout, reason = "a program whose output is the point")]

use guildhall_confine::credential_in;
use std::{
    collections::BTreeMap,
    env,
    error::Error,
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

const FILE_MAX_BYTES: u64 = 256 * 1024;

fn main() -> Result<(), Box<dyn Error>> {
    let mut folders = vec![PathBuf::from(
        env::args().nth(1).ok_or("a folder is needed")?,
    )];
    let list = env::args().any(|argument| argument == "--list");
    let (mut files, mut bytes, mut taken) = (0_usize, 0_usize, Duration::ZERO);
    let mut families: BTreeMap<&str, usize> = BTreeMap::new();
    assert!(credential_in(b"compiles the table").is_none());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let facts = entry.metadata()?;
            if facts.is_dir() {
                folders.push(entry.path());
                continue;
            }
            if !facts.is_file() || facts.len() > FILE_MAX_BYTES {
                continue;
            }
            let Ok(text) = String::from_utf8(fs::read(entry.path())?) else {
                continue;
            };
            let started = Instant::now();
            let found = credential_in(text.as_bytes());
            taken += started.elapsed();
            files += 1;
            bytes += text.len();
            if let Some(family) = found {
                *families.entry(family.name()).or_default() += 1;
                if list {
                    println!("{}: {}", family.name(), entry.path().display());
                }
            }
        }
    }
    let refused: usize = families.values().sum();
    println!(
        "{files} files, {} MB in {} ms; {refused} refused: {families:?}",
        bytes / 1_000_000,
        taken.as_millis()
    );
    Ok(())
}
