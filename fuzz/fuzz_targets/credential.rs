//! Any bytes against the shapes of credentials.
//!
//! In: bytes. Out: nothing, or a crash or a hang. Never: an answer that changes when it is asked
//! again.

#![no_main]

use guildhall_confine::{credential_in, families};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let found = credential_in(bytes);
    assert_eq!(found, credential_in(bytes));
    assert!(found.is_none_or(|family| families().any(|known| known == family)));
});
