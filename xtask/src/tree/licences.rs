//! Licences of everything in the lock file.
//!
//! In: SPDX expressions, as the packages' authors wrote them. Out: packages that we may not ship.
//! Never: a licence taken for good because it could not be read.

use super::{Finding, metadata::Metadata};

/// Licences that ask for no more than their text kept beside the program.
const ALLOWED: [&str; 14] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Packages whose licence is missing, unreadable or not on the list.
pub(super) fn refused(metadata: &Metadata) -> Vec<Finding> {
    metadata
        .theirs()
        .filter(|package| !package.licence.as_deref().is_some_and(allowed))
        .map(|package| {
            let licence = package.licence.as_deref().unwrap_or("no licence");
            format!("{}: {licence}", package.name)
        })
        .collect()
}

/// Whether an expression can be kept with licences of the list alone.
fn allowed(expression: &str) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader {
        words: &words,
        at: 0,
    };
    reader.any_of() == Some(true) && reader.at == words.len()
}

/// A reader of SPDX expressions; `None` is an expression that it does not know.
struct Reader<'a> {
    words: &'a [&'a str],
    at: usize,
}

impl Reader<'_> {
    fn take(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at) == Some(&word);
        self.at += usize::from(found);
        found
    }

    fn any_of(&mut self) -> Option<bool> {
        let mut allowed = self.all_of()?;
        while self.take("OR") {
            allowed |= self.all_of()?;
        }
        Some(allowed)
    }

    fn all_of(&mut self) -> Option<bool> {
        let mut allowed = self.one()?;
        while self.take("AND") {
            allowed &= self.one()?;
        }
        Some(allowed)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let inside = self.any_of()?;
            return self.take(")").then_some(inside);
        }
        let mut name = (*self.words.get(self.at)?).to_owned();
        self.at += 1;
        if self.take("WITH") {
            name = format!("{name} WITH {}", self.words.get(self.at)?);
            self.at += 1;
        }
        Some(ALLOWED.contains(&name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::allowed;

    #[test]
    fn an_expression_is_kept_with_listed_licences_alone() {
        let cases = [
            ("MIT", true),
            ("MIT OR GPL-3.0", true),
            ("MIT AND GPL-3.0", false),
            ("GPL-3.0", false),
            ("MIT/Apache-2.0", true),
            ("Apache-2.0 WITH LLVM-exception OR GPL-2.0", true),
            ("GPL-2.0 WITH Classpath-exception-2.0", false),
            ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
            ("(MIT AND GPL-3.0) OR AGPL-3.0", false),
            ("MIT AND (ISC OR GPL-2.0)", true),
            ("", false),
            ("(MIT", false),
            ("MIT MIT", false),
            ("MIT OR", false),
            ("see LICENSE", false),
        ];
        for (expression, want) in cases {
            assert_eq!(allowed(expression), want, "{expression:?}");
        }
    }
}
