//! Characters that cannot be seen.
//!
//! In: a character. Out: whether a path may not hold it. Such a character forges lines of a log,
//! turns the text on an approval card around, or makes two names look the same.
//! Never: judges look-alike letters; a person reads the whole name.

/// First and last of each range. Control characters are not in it: the standard library knows them.
///
/// The classes Cf, Zl and Zp of Unicode 16, with the letters and marks that leave no trace on paper
/// and the noncharacters of the first plane. A test holds it against the tables of the regex crate.
const UNSEEN: [(u32, u32); 31] = [
    (0x00AD, 0x00AD),     // soft hyphen
    (0x034F, 0x034F),     // grapheme joiner
    (0x0600, 0x0605),     // Arabic number signs
    (0x061C, 0x061C),     // Arabic letter mark
    (0x06DD, 0x06DD),     // Arabic end of verse
    (0x070F, 0x070F),     // Syriac abbreviation mark
    (0x0890, 0x0891),     // Arabic currency marks above
    (0x08E2, 0x08E2),     // Arabic disputed end of verse
    (0x115F, 0x1160),     // Hangul fillers
    (0x17B4, 0x17B5),     // Khmer inherent vowels
    (0x180B, 0x180F),     // Mongolian selectors and separator
    (0x200B, 0x200F),     // zero width, direction marks
    (0x2028, 0x202E),     // line and paragraph separators, direction overrides
    (0x2060, 0x206F),     // word joiner, invisible operators, isolates
    (0x2800, 0x2800),     // blank Braille
    (0x3164, 0x3164),     // Hangul filler
    (0xE000, 0xF8FF),     // private use
    (0xFDD0, 0xFDEF),     // noncharacters
    (0xFEFF, 0xFEFF),     // byte order mark
    (0xFFA0, 0xFFA0),     // half-width Hangul filler
    (0xFFF0, 0xFFFB),     // unassigned specials, annotation anchors
    (0xFFFE, 0xFFFF),     // noncharacters
    (0x110BD, 0x110BD),   // Kaithi number sign
    (0x110CD, 0x110CD),   // Kaithi number sign above
    (0x13430, 0x1343F),   // hieroglyph controls
    (0x1BCA0, 0x1BCA3),   // shorthand controls
    (0x1D159, 0x1D159),   // null note head
    (0x1D173, 0x1D17A),   // musical controls
    (0xE0000, 0xE0FFF),   // tags and what may follow them
    (0xF0000, 0xFFFFF),   // private use
    (0x100000, 0x10FFFF), // private use
];

/// Whether `c` leaves no trace, or one that misleads.
#[must_use]
pub fn is_unseen(c: char) -> bool {
    let code = u32::from(c);
    if code < 0xAD {
        return c.is_control();
    }
    let next = UNSEEN.partition_point(|&(first, _)| first <= code);
    next > 0 && code <= UNSEEN[next - 1].1
}

#[cfg(test)]
mod tests {
    use super::{UNSEEN, is_unseen};

    #[test]
    fn the_ranges_stand_in_order_and_apart() {
        for pair in UNSEEN.windows(2) {
            assert!(pair[0].1 < pair[1].0, "{pair:x?}");
        }
    }

    #[test]
    fn every_control_format_and_separator_character_is_unseen() {
        let class = regex_syntax::Parser::new()
            .parse(r"[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}]")
            .expect("the classes have names");
        let regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) =
            class.into_kind()
        else {
            panic!("a class is a class");
        };
        for range in class.iter() {
            for c in range.start()..=range.end() {
                assert!(is_unseen(c), "U+{:04X}", u32::from(c));
            }
        }
    }

    #[test]
    fn letters_digits_marks_and_pictures_are_seen() {
        for c in "aZ09 ~-_.,'\"$é日本語한글עבריתعربيไทย😀\u{301}\u{fe0f}\u{3000}\u{a0}".chars()
        {
            assert!(!is_unseen(c), "U+{:04X}", u32::from(c));
        }
    }
}
