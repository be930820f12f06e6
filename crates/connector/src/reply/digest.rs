//! What of a text Discord keeps for certain.
//!
//! In: a text as sent, or as read back. Out: the same text without what Discord may strip or trim.
//! Never: a hash; the caller makes that.

/// The text without white space, control characters and characters that have no shape of their own
/// (zero-width, directional and other invisible format characters, variation selectors).
///
/// Discord trims a message and may strip odd characters from it, so a message that is read back is
/// compared with the one that was sent by this, and not byte for byte.
#[must_use]
pub fn digest_text(text: &str) -> String {
    text.chars().filter(|&c| !is_unseen(c)).collect()
}

/// Whether Discord may take the text for an empty message.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(is_unseen)
}

/// Whether a character shows nothing by itself.
///
/// White space and controls as the standard library has them, then the ranges of the Unicode
/// property Default_Ignorable_Code_Point and the interlinear annotation marks.
pub(crate) fn is_unseen(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}
