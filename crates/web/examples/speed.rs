//! How fast HTML becomes text, beside the bare tokenizer over the same pages in the same process:
//! `cargo run --release -p guildhall-web --example speed`.
//!
//! Two inputs: the pages of `testdata/pages` one by one, where each is read to its end, and one page
//! of some megabytes, of which the text stops at its limit while the tokens go on. The tokenizer is
//! run twice: with nobody listening, and as its documentation shows it, with a token for each piece.

use guildhall_web::{Target, readable};
use html5gum::{
    Tokenizer,
    emitters::callback::{CallbackEmitter, CallbackEvent},
};
use std::{convert::Infallible, fs, hint::black_box, path::PathBuf, time::Instant};

/// Least bytes in one measurement.
const BYTES: usize = 64 << 20;
/// Measurements of each kind; the best one counts, since others only waited more.
const ROUNDS: usize = 5;

fn bare(source: &str) {
    let mut bytes = 0;
    let emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: html5gum::Span<()>| {
        if let CallbackEvent::String { value } = event {
            bytes += value.len();
        }
        None::<Infallible>
    });
    let mut tokenizer = Tokenizer::new_with_emitter(source, emitter);
    assert!(tokenizer.next().is_none());
    drop(tokenizer);
    black_box(bytes);
}

fn tokens(source: &str) {
    for token in Tokenizer::new(source) {
        black_box(&token);
    }
}

/// Megabytes a second.
fn speed(sources: &[String], read: impl Fn(&str)) -> f64 {
    let bytes: usize = sources.iter().map(String::len).sum();
    let repeats = BYTES / bytes + 1;
    let rounds = (0..ROUNDS).map(|_| {
        let begun = Instant::now();
        for source in std::iter::repeat_n(sources, repeats).flatten() {
            read(source);
        }
        (bytes * repeats) as f64 / begun.elapsed().as_secs_f64() / 1e6
    });
    rounds.fold(0.0, f64::max)
}

fn pages() -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/pages");
    let entries = fs::read_dir(folder).expect("the pages");
    let paths = entries.map(|entry| entry.expect("a page").path());
    let html = paths.filter(|path| path.extension().is_some_and(|ending| ending == "html"));
    html.map(|path| String::from_utf8_lossy(&fs::read(path).expect("a page")).into_owned())
        .collect()
}

fn main() {
    let page = Target::parse("https://www.example.com/docs/page").expect("a URL");
    let pages = pages();
    // No main part, or reading would end with it.
    let large = pages
        .concat()
        .replace("<main", "<div")
        .replace("<article", "<div")
        .replace("role=\"main\"", "");
    let large = vec![large.repeat((4 << 20) / large.len() + 1)];
    println!(
        "{:24} {:>10} {:>10} {:>10} {:>8} {:>8}",
        "MB/s", "text", "bare", "tokens", "of bare", "of tokens"
    );
    for (name, sources) in [("twenty pages", &pages), ("one of four megabytes", &large)] {
        let text = speed(sources, |source| {
            black_box(readable(source, &page));
        });
        let (bare, tokens) = (speed(sources, bare), speed(sources, tokens));
        let (of_bare, of_tokens) = (text / bare, text / tokens);
        println!("{name:24} {text:10.0} {bare:10.0} {tokens:10.0} {of_bare:8.2} {of_tokens:8.2}");
    }
}
