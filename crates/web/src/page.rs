//! What a fetch gives.
//!
//! In: a final URL, a status and a body. Out: a page, and all that a model is told of it, short enough
//! with everything around the text. Never: the page's words in a log; `Debug` shows lengths.

use std::fmt;

use crate::{
    Target, WebRefusal,
    body::{Body, End},
    html,
    media::{Kind, Media},
    unseen::seen,
};

/// Most characters that a model is given of a page or a search: what is said about it, the title, the
/// text and every notice together.
pub const TEXT_MAX_CHARS: usize = 12_000;
/// Longest title, in characters.
pub const TITLE_MAX_CHARS: usize = 200;
/// Stands before the title.
const TITLE: &str = "Title: ";

/// Stands at the end of a text that goes on.
const CUT_AT_CHARS: &str = "\n\n[cut here: the text goes on]";
/// Stands at the end of a text whose page was not read to its end.
const CUT_AT_BYTES: &str = "\n\n[cut here: the page is larger than what is fetched]";
/// Stands for the text of an HTML page without any.
const NOTHING_TO_READ: &str =
    "[the page has no text to read; it may need scripts, which are not run]";

/// How much of a page was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// All of it.
    Whole,
    /// The body was read to the limit of bytes; all that was read is given.
    AtBytes,
    /// The text was given to the limit of characters.
    AtChars,
}

/// A page that was fetched.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// Where it was in the end, after redirects.
    pub final_url: String,
    /// The status of the last answer, between 200 and 299.
    pub status: u16,
    /// Its media type, in lower case and without parameters.
    pub content_type: String,
    /// How many bytes of it were read, after unpacking.
    pub bytes: usize,
    /// Whether this is all of it. Where it is not, the text says so as well.
    pub cut: Cut,
    /// The title of an HTML page, at most [`TITLE_MAX_CHARS`].
    pub title: Option<String>,
    /// HTML as readable text, anything else as it is. So long that [`Page::told`] keeps its bound.
    pub text: String,
}

impl Page {
    /// What a model is given: where the page was and what it is, its title, its text. At most
    /// [`TEXT_MAX_CHARS`] characters.
    #[must_use]
    pub fn told(&self) -> String {
        let mut told = head(&self.final_url, self.status, &self.content_type, self.bytes);
        if let Some(title) = &self.title {
            told.extend([TITLE, title, "\n"]);
        }
        told.push('\n');
        told.push_str(&self.text);
        told
    }
}

/// The line that says what was fetched.
fn head(url: &str, status: u16, content_type: &str, bytes: usize) -> String {
    format!("{url} (status {status}, {content_type}, {bytes} bytes read)\n")
}

/// How many characters title and text may have beside all that stands around them. A URL has a few
/// thousand at most and a media type a few hundred, so most of the bound is always left.
fn room(head: &str) -> usize {
    let around = head.chars().count() + TITLE.len() + "\n\n".len();
    TEXT_MAX_CHARS.saturating_sub(around + CUT_AT_BYTES.len())
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page")
            .field("final_url", &self.final_url.len())
            .field("status", &self.status)
            .field("bytes", &self.bytes)
            .field("cut", &self.cut)
            .field("title", &self.title.as_ref().map(String::len))
            .field("text", &self.text.len())
            .finish_non_exhaustive()
    }
}

/// Makes a page of what was read. Takes time in proportion to the body, a few milliseconds for a
/// mebibyte, so it has its place on a blocking thread.
///
/// # Errors
/// [`WebRefusal::Binary`].
pub(crate) fn page_of(
    target: &Target,
    status: u16,
    media: Media,
    body: &Body,
) -> Result<Page, WebRefusal> {
    let source = media.text(&body.bytes)?;
    let bytes = body.bytes.len();
    let room = room(&head(target.as_str(), status, &media.essence, bytes));
    let (title, mut text, whole) = match media.kind {
        Kind::Html | Kind::Xhtml => {
            let read = html::read(&source, target.url(), media.kind, room);
            (read.title, read.text, read.whole)
        }
        Kind::Xml | Kind::Plain => {
            let (text, whole) = seen(&source, room);
            (None, text, whole)
        }
    };
    let cut = match (whole, body.end) {
        (false, _) => Cut::AtChars,
        (true, End::Cut) => Cut::AtBytes,
        (true, End::Whole) => Cut::Whole,
    };
    match cut {
        Cut::AtChars => text.push_str(CUT_AT_CHARS),
        Cut::AtBytes => text.push_str(CUT_AT_BYTES),
        Cut::Whole if text.is_empty() && !body.bytes.is_empty() => text.push_str(NOTHING_TO_READ),
        Cut::Whole => {}
    }
    Ok(Page {
        final_url: target.as_str().to_owned(),
        status,
        content_type: media.essence,
        bytes,
        cut,
        title,
        text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_said_of_a_page_keeps_the_bound_and_says_where_it_was_cut() {
        let short = "https://example.com/".to_owned();
        // Percent-encoding makes it three times as long.
        let long = format!("{short}{}", "é".repeat(1_000));
        let title = format!("<title>{}</title>", "t".repeat(300));
        let words = "ä ".repeat(7_000);
        let bodies = [
            ("text/plain", "é".repeat(TEXT_MAX_CHARS + 1)),
            ("text/html", format!("{title}<p>{words}")),
            ("text/html", format!("<p>{words}")),
            ("text/html", format!("{title}<pre>{words}")),
        ];
        for url in [short, long] {
            let target = Target::parse(&url).expect("a URL");
            for (kind, text) in &bodies {
                for end in [End::Whole, End::Cut] {
                    let body = Body {
                        bytes: text.clone().into_bytes(),
                        end,
                    };
                    let media = Media::parse(kind).expect("a kind");
                    let page = page_of(&target, 200, media, &body).expect("a page");
                    let told = page.told();
                    let chars = told.chars().count();
                    // Room for either notice is kept, and one of them is shorter.
                    let spare = TEXT_MAX_CHARS - chars.min(TEXT_MAX_CHARS);
                    assert!(chars <= TEXT_MAX_CHARS && spare < 60, "{kind}: {chars}");
                    assert!(told.ends_with(CUT_AT_CHARS), "{kind}");
                }
            }
        }
    }

    #[test]
    fn what_fits_is_whole_and_a_body_cut_before_its_words_says_so() {
        let target = Target::parse("https://example.com/").expect("a URL");
        let cases = [(End::Whole, "x"), (End::Cut, CUT_AT_BYTES)];
        for (end, want) in cases {
            let body = Body {
                bytes: b"x".to_vec(),
                end,
            };
            let media = Media::parse("text/plain").expect("a kind");
            let told = page_of(&target, 200, media, &body).expect("a page").told();
            assert!(
                told.starts_with(
                    "https://example.com/ (status 200, text/plain, 1 bytes read)\n\nx"
                )
            );
            assert!(told.ends_with(want), "{told}");
        }
    }
}
