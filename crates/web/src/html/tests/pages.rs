//! Twenty pages of different kinds, and the text that a reader should get of each.
//!
//! The pages were written for this. With `WRITE_PAGES=1` in the environment the texts are written
//! anew, to be read before they are kept.

use super::super::read;
use crate::media::{Kind, Media};
use std::{env, fs, path::PathBuf};
use url::Url;

const PAGES: usize = 20;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/pages")
}

#[test]
fn each_kind_of_page_reads_like_the_page() {
    let mut sources: Vec<PathBuf> = fs::read_dir(folder())
        .expect("the pages")
        .map(|entry| entry.expect("a page").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "html"))
        .collect();
    sources.sort();
    assert_eq!(sources.len(), PAGES);
    let base = Url::parse("https://www.example.com/docs/page.html").expect("a URL");
    let mut wrong = Vec::new();
    for source in sources {
        let bytes = fs::read(&source).expect("a page");
        let kind = match bytes.starts_with(b"<?xml") {
            true => "application/xhtml+xml",
            false => "text/html",
        };
        let media = Media::parse(kind).expect("a kind");
        assert!(matches!(media.kind, Kind::Html | Kind::Xhtml));
        let text = media.text(&bytes).expect("a text");
        let page = read(&text, &base, media.kind, 12_000);
        let got = format!("{}\n=====\n{}\n", page.title.unwrap_or_default(), page.text);
        let kept = source.with_extension("txt");
        if env::var_os("WRITE_PAGES").is_some() {
            fs::write(&kept, &got).expect("room");
        }
        if fs::read_to_string(&kept).ok().as_deref() != Some(got.as_str()) {
            wrong.push(format!("{}\n{got}", source.display()));
        }
        assert!(page.whole, "{}", source.display());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
