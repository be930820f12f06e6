//! What a message holds: text, pings, buttons, attached texts.
//!
//! In: the driver's words. Out: the body of a post or an edit. Never: a ping of somebody who was not
//! named, a file name that could end its header, a boundary that stands in what it bounds.

use bytes::Bytes;
use guildhall_authority::ask::AskId;
use guildhall_binding::ids::UserId;
use serde_json::{Value, json};

/// Largest text that is attached, in bytes. Discord takes 10 MiB a file by default: API reference,
/// "Uploading Files".
pub const UPLOAD_MAX_BYTES: usize = 8 * 1024 * 1024;
/// People that one message may ping. Source: Discord API reference, "Allowed Mentions Object".
const PINGS_MAX_COUNT: usize = 100;
/// Longest name of a file, in characters.
const FILE_NAME_MAX_CHARS: usize = 100;

/// What a message says, in a post and in an edit alike.
#[derive(Clone, Copy, Debug, Default)]
pub struct Content<'a> {
    /// Its text: at most 2000 code points.
    pub text: &'a str,
    /// Whom it may ping: the first 100. Nobody else is pinged, whatever the text says.
    pub pings: &'a [UserId],
    /// Rows of buttons: at most five rows of five.
    pub buttons: &'a [Vec<Button>],
}

impl<'a> Content<'a> {
    /// A text that pings nobody and has no buttons.
    #[must_use]
    pub const fn text(text: &'a str) -> Self {
        Self {
            text,
            pings: &[],
            buttons: &[],
        }
    }

    pub(super) fn body(&self) -> Value {
        let mut mentions = json!({ "parse": [], "replied_user": false });
        if !self.pings.is_empty() {
            mentions["users"] = json!(self.pings.get(..PINGS_MAX_COUNT).unwrap_or(self.pings));
        }
        json!({
            "content": self.text,
            "allowed_mentions": mentions,
            "components": self.buttons.iter().map(|row| json!({
                "type": 1,
                "components": row.iter().map(Button::body).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
        })
    }
}

/// A button of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    /// What it says, at most 80 characters.
    pub label: String,
    /// What comes back with a press, 1 to 100 characters. Public text without authority.
    pub custom_id: String,
    /// How it looks.
    pub look: ButtonLook,
    /// Whether it can be pressed.
    pub state: ButtonState,
}

/// How a button looks. Source: Discord API reference, "Button Styles".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ButtonLook {
    /// The obvious choice.
    Primary,
    /// A quiet choice.
    Secondary,
    /// A choice that allows.
    Success,
    /// A choice that denies.
    Danger,
}

/// Whether a button can be pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ButtonState {
    /// It can.
    Live,
    /// It is grey.
    Grey,
}

impl Button {
    /// The two buttons of an ask's card: `Once`, `Deny`. Their ids are `ask:<id>:once` and
    /// `ask:<id>:deny`.
    #[must_use]
    pub fn once_and_deny(ask: AskId) -> Vec<Self> {
        let button = |label: &str, choice: &str, look| Self {
            label: label.to_owned(),
            custom_id: format!("ask:{ask}:{choice}"),
            look,
            state: ButtonState::Live,
        };
        vec![
            button("Once", "once", ButtonLook::Success),
            button("Deny", "deny", ButtonLook::Danger),
        ]
    }

    fn body(&self) -> Value {
        let style = match self.look {
            ButtonLook::Primary => 1,
            ButtonLook::Secondary => 2,
            ButtonLook::Success => 3,
            ButtonLook::Danger => 4,
        };
        json!({
            "type": 2,
            "style": style,
            "label": self.label,
            "custom_id": self.custom_id,
            "disabled": self.state == ButtonState::Grey,
        })
    }
}

/// A text that is attached to a post as a file.
#[derive(Clone, PartialEq, Eq)]
pub struct Upload<'a> {
    name: String,
    text: &'a str,
}

/// A text is over [`UPLOAD_MAX_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text is too large to be attached")]
pub struct UploadTooLarge;

impl std::fmt::Debug for Upload<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Upload({} bytes)", self.text.len())
    }
}

impl<'a> Upload<'a> {
    /// A file of this name with this text. In the name everything but ASCII letters, digits, `.`,
    /// `-` and `_` becomes `_`, and it is cut at 100 characters.
    ///
    /// # Errors
    /// [`UploadTooLarge`].
    pub fn new(name: &str, text: &'a str) -> Result<Self, UploadTooLarge> {
        if text.len() > UPLOAD_MAX_BYTES {
            return Err(UploadTooLarge);
        }
        let plain = |c: char| {
            let kept = c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
            if kept { c } else { '_' }
        };
        let name: String = name.chars().take(FILE_NAME_MAX_CHARS).map(plain).collect();
        let name = if name.trim_matches('.').is_empty() {
            "file.txt".to_owned()
        } else {
            name
        };
        Ok(Self { name, text })
    }

    /// The name that Discord is told.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// A body in several parts.
pub(super) struct Form {
    /// Its content type.
    pub(super) media: String,
    /// The parts.
    pub(super) body: Bytes,
}

impl Form {
    /// The form of a post with these files.
    pub(super) fn of(mut body: Value, files: &[Upload<'_>]) -> Self {
        let named = files.iter().enumerate();
        let named = named.map(|(id, file)| json!({ "id": id.to_string(), "filename": file.name }));
        body["attachments"] = named.collect();
        let body = body.to_string();
        let boundary = boundary(&body, files);
        let mut form = format!(
            "--{boundary}\r\n\
             Content-Disposition: form-data; name=\"payload_json\"\r\n\
             Content-Type: application/json\r\n\r\n\
             {body}\r\n"
        );
        for (id, Upload { name, text }) in files.iter().enumerate() {
            form.push_str(&format!(
                "--{boundary}\r\n\
                 Content-Disposition: form-data; name=\"files[{id}]\"; filename=\"{name}\"\r\n\
                 Content-Type: text/plain; charset=utf-8\r\n\r\n\
                 {text}\r\n"
            ));
        }
        form.push_str(&format!("--{boundary}--\r\n"));
        Self {
            media: format!("multipart/form-data; boundary={boundary}"),
            body: Bytes::from(form),
        }
    }
}

/// The first boundary of its kind that stands nowhere in the parts: what a text says cannot end
/// its part.
fn boundary(body: &str, files: &[Upload<'_>]) -> String {
    let taken = |boundary: &str| {
        let mut texts = files.iter().map(|file| file.text);
        body.contains(boundary) || texts.any(|text| text.contains(boundary))
    };
    let mut boundary = String::from("guildhall-part-0");
    let mut number = 0_u64;
    while taken(&boundary) {
        number += 1;
        boundary = format!("guildhall-part-{number}");
    }
    boundary
}

#[cfg(test)]
mod tests;
