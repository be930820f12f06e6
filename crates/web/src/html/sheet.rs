//! The text that is kept.
//!
//! In: pieces of text, each with the part of the page that it stands in. Out: one text, main part
//! first. Never: more characters in a part than the whole may have.

/// Part of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zone {
    /// What its author calls the main part or an article.
    Main,
    /// What has no such mark.
    Body,
    /// Menus, headers, footers and what stands aside.
    Side,
}

/// Stands between the main text and the rest.
const AROUND: &str = "\n\n[around the main text]\n\n";

#[derive(Default)]
struct Part {
    text: String,
    chars: usize,
    /// Whether something found no room.
    over: bool,
}

/// Three texts, one for each zone.
pub(super) struct Sheet {
    main: Part,
    body: Part,
    side: Part,
    room: usize,
}

impl Sheet {
    pub(super) fn new(room: usize) -> Self {
        Self {
            main: Part::default(),
            body: Part::default(),
            side: Part::default(),
            room,
        }
    }

    const fn part(&self, zone: Zone) -> &Part {
        match zone {
            Zone::Main => &self.main,
            Zone::Body => &self.body,
            Zone::Side => &self.side,
        }
    }

    const fn part_mut(&mut self, zone: Zone) -> &mut Part {
        match zone {
            Zone::Main => &mut self.main,
            Zone::Body => &mut self.body,
            Zone::Side => &mut self.side,
        }
    }

    pub(super) const fn is_full(&self, zone: Zone) -> bool {
        self.part(zone).over
    }

    pub(super) const fn is_empty(&self, zone: Zone) -> bool {
        self.part(zone).chars == 0
    }

    /// How many more characters a zone can take.
    pub(super) const fn room(&self, zone: Zone) -> usize {
        self.room.saturating_sub(self.part(zone).chars)
    }

    /// Marks that a zone's text goes on behind what is kept.
    pub(super) const fn overflow(&mut self, zone: Zone) {
        self.part_mut(zone).over = true;
    }

    pub(super) fn push(&mut self, zone: Zone, text: &str) {
        let room = self.room;
        let part = self.part_mut(zone);
        if part.over {
            return;
        }
        // No character has less than a byte.
        if text.len() <= room - part.chars {
            part.text.push_str(text);
            part.chars += text.chars().count();
            return;
        }
        for c in text.chars() {
            if part.chars == room {
                part.over = true;
                return;
            }
            part.text.push(c);
            part.chars += 1;
        }
    }

    /// The text, of at most `room` characters, and whether it is all of it.
    pub(super) fn finish(self, room: usize) -> (String, bool) {
        let rest = join(self.body, "\n\n", self.side);
        let all = match self.main.text.is_empty() {
            false => join(self.main, AROUND, rest),
            // Without a main part the menus still come last.
            true => rest,
        };
        let Some((cut, _)) = all.text.char_indices().nth(room) else {
            return (all.text, !all.over);
        };
        let mut text = all.text;
        text.truncate(cut);
        (text, false)
    }
}

fn join(mut first: Part, between: &str, second: Part) -> Part {
    if first.text.is_empty() {
        return second;
    }
    if !second.text.is_empty() {
        first.text.push_str(between);
        first.text.push_str(&second.text);
    }
    first.over |= second.over;
    first
}
