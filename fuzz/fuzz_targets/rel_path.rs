//! Any text as a path inside a root.
//!
//! In: bytes. Out: nothing, or a crash. Never: a path that is taken and could leave the root by its
//! text, or that is shown differently from what it is.

#![no_main]

use guildhall_confine::{
    PATH_MAX_BYTES, RelPath, SEGMENT_MAX_BYTES, SEGMENTS_MAX_COUNT, is_unseen,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(path) = RelPath::parse(text) else {
        return;
    };
    if path.is_root() {
        assert!(matches!(text, "" | "."));
        return;
    }
    assert_eq!(path.as_str(), text);
    assert_eq!(path.to_string(), text);
    assert!(text.len() <= PATH_MAX_BYTES && !text.starts_with('/') && !text.ends_with('/'));
    assert!(path.segments().count() <= SEGMENTS_MAX_COUNT);
    assert_eq!(path.segments().collect::<Vec<_>>().join("/"), text);
    for segment in path.segments() {
        assert!(!segment.is_empty() && !segment.starts_with('.'));
        assert!(segment.len() <= SEGMENT_MAX_BYTES);
        assert!(!segment.chars().any(|c| c.is_control() || is_unseen(c)));
        assert_eq!(segment.trim(), segment);
    }
});
