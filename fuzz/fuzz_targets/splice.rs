//! Any file, any text to replace, any replacement.
//!
//! In: bytes that are cut in three. Out: nothing, or a crash. Never: a byte outside the replaced one
//! occurrence that changes, a count that is wrong.

#![no_main]

use guildhall_confine::{Refusal, splice};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|parts: (&[u8], &str, &str)| {
    let (file, old, new) = parts;
    // Plainly, a step at a time, overlapping ones too.
    let at: Vec<usize> = if old.is_empty() {
        Vec::new()
    } else {
        let windows = file.windows(old.len()).enumerate();
        windows
            .filter(|(_, window)| *window == old.as_bytes())
            .map(|(at, _)| at)
            .collect()
    };
    match splice(file, old, new) {
        Ok(after) => {
            let [at] = at.as_slice() else {
                unreachable!("it occurs {} times", at.len());
            };
            let (head, tail) = (&file[..*at], &file[at + old.len()..]);
            assert_eq!(after, [head, new.as_bytes(), tail].concat());
            assert!(std::str::from_utf8(&after).is_ok());
        }
        Err(Refusal::Ambiguous(count)) => assert_eq!(count, at.len()),
        Err(Refusal::NoMatch(_)) => assert!(at.is_empty()),
        Err(Refusal::EmptyOld) => assert!(old.is_empty()),
        Err(Refusal::NoChange) => assert_eq!(old, new),
        Err(Refusal::NotUtf8) => assert!(std::str::from_utf8(file).is_err()),
        Err(other) => unreachable!("{other:?}"),
    }
});
