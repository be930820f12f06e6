//! Pastes: the one text file that a message may bring.
//!
//! In: a message with attachments. Out: which file to read, and the message with its text. Never:
//! a second file, a file that is not text or too large, a name that decides what is fetched.

use guildhall_authority::event::{Enclosed, MessageText, Said};

/// Largest text file that is read, in bytes. Discord's clients turn a message over 2000 characters
/// into a file, and its longest message for anybody is 4000, so this is far more than a paste.
pub(crate) const MAX_BYTES: u64 = 64 * 1024;
/// How often a file is asked for before it is named as not read.
pub(crate) const TRIES_MAX_COUNT: u32 = 2;

/// Endings of files that are text whatever their media type says.
const TEXT_ENDINGS: [&str; 4] = [".txt", ".md", ".log", ".csv"];

/// Where the one file lies that is to be read, while it was neither read nor given up.
pub(crate) fn unread(said: &Said) -> Option<String> {
    said.enclosed
        .iter()
        .find(|enclosed| is_text(enclosed))
        .and_then(|enclosed| match enclosed {
            Enclosed::Attachment {
                url, text: None, ..
            } => url.clone(),
            Enclosed::Attachment { .. }
            | Enclosed::Quoted { .. }
            | Enclosed::Forwarded { .. }
            | Enclosed::Sticker { .. }
            | Enclosed::Poll { .. } => None,
        })
}

/// Puts the file's text into its message, or marks that it is not read.
pub(crate) fn put(said: &mut Said, found: Option<MessageText>) {
    let first = said.enclosed.iter_mut().find(|enclosed| is_text(enclosed));
    if let Some(Enclosed::Attachment { url, text, .. }) = first {
        *url = None;
        *text = found;
    }
}

fn is_text(enclosed: &Enclosed) -> bool {
    let Enclosed::Attachment {
        name, media, bytes, ..
    } = enclosed
    else {
        return false;
    };
    let name = name.as_str().to_ascii_lowercase();
    let media = media
        .as_ref()
        .map(|media| media.as_str().to_ascii_lowercase());
    let text = media
        .as_ref()
        .is_some_and(|media| media.starts_with("text/"));
    let named = TEXT_ENDINGS.iter().any(|ending| name.ends_with(ending));
    // A media type that is no text wins over a name.
    *bytes <= MAX_BYTES && (text || (named && media.is_none()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use guildhall_authority::event::{Author, AuthorKind, Mentioned, SaidKind};
    use guildhall_binding::ids::{ChannelId, MessageId, UserId};

    fn attachment(name: &str, media: Option<&str>, bytes: u64) -> Enclosed {
        Enclosed::Attachment {
            name: MessageText::new(name),
            media: media.map(MessageText::new),
            bytes,
            url: Some(format!("https://cdn.example/{name}")),
            text: None,
        }
    }

    fn said(enclosed: Vec<Enclosed>) -> Said {
        Said {
            id: MessageId::from_number(7).expect("not zero"),
            channel: ChannelId::from_number(1).expect("not zero"),
            guild: None,
            author: Author {
                id: UserId::from_number(10).expect("not zero"),
                kind: AuthorKind::Person,
                name: MessageText::new("Ana"),
            },
            kind: SaidKind::Plain,
            text: MessageText::new(""),
            mentions_bot: Mentioned::No,
            enclosed,
            replies_to: None,
        }
    }

    #[test]
    fn one_small_text_file_is_read_and_nothing_else() {
        let cases = [
            (
                "a paste",
                attachment("message.txt", Some("text/plain; charset=utf-8"), 100),
                true,
            ),
            ("no type", attachment("notes.MD", None, 100), true),
            (
                "as large as may be",
                attachment("message.txt", Some("text/plain"), MAX_BYTES),
                true,
            ),
            (
                "too large",
                attachment("message.txt", Some("text/plain"), MAX_BYTES + 1),
                false,
            ),
            (
                "an image",
                attachment("cat.png", Some("image/png"), 100),
                false,
            ),
            (
                "an image that calls itself text",
                attachment("cat.txt", Some("image/png"), 9),
                false,
            ),
            ("no ending, no type", attachment("README", None, 100), false),
        ];
        for (name, enclosed, want) in cases {
            assert_eq!(unread(&said(vec![enclosed])).is_some(), want, "{name}");
        }
    }

    #[test]
    fn the_first_text_file_is_the_one_and_it_is_asked_for_once() {
        let mut said = said(vec![
            attachment("cat.png", Some("image/png"), 9),
            attachment("a.txt", Some("text/plain"), 9),
            attachment("b.txt", Some("text/plain"), 9),
        ]);
        assert_eq!(unread(&said).as_deref(), Some("https://cdn.example/a.txt"));
        put(&mut said, Some(MessageText::new("what it says")));
        assert_eq!(unread(&said), None);
        let Enclosed::Attachment { text, .. } = &said.enclosed[1] else {
            unreachable!("a file")
        };
        assert_eq!(text.as_ref().map(MessageText::as_str), Some("what it says"));
    }
}
