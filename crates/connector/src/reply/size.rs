//! Lengths, counted in both ways that Discord might count.
//!
//! In: text. Out: code points and UTF-16 units. Never: bytes.

use super::MESSAGE_CONTENT_MAX_CHARS;
use std::ops::{Add, AddAssign, SubAssign};

/// How long a text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// Code points.
    pub(super) chars: usize,
    /// UTF-16 units.
    pub(super) units: usize,
}

impl Size {
    pub(super) fn of(text: &str) -> Self {
        text.chars().fold(Self::default(), |size, c| Self {
            chars: size.chars + 1,
            units: size.units + c.len_utf16(),
        })
    }

    /// Whether a part of this size is within `limit` code points and Discord's limit in units.
    pub(super) const fn fits(self, limit: usize) -> bool {
        self.chars <= limit && self.units <= MESSAGE_CONTENT_MAX_CHARS
    }

    /// How many parts of `limit` a text of this size needs at least.
    pub(super) fn parts(self, limit: usize) -> usize {
        self.chars
            .div_ceil(limit)
            .max(self.units.div_ceil(MESSAGE_CONTENT_MAX_CHARS))
    }
}

impl Add for Size {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            chars: self.chars + other.chars,
            units: self.units + other.units,
        }
    }
}

impl AddAssign for Size {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Size {
    fn sub_assign(&mut self, other: Self) {
        self.chars -= other.chars;
        self.units -= other.units;
    }
}
