//! Packed bytes that are whole, cut, broken, or far larger than they look.

use super::*;
use flate2::{Compression, write::GzEncoder};

fn packed(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).expect("memory");
    encoder.finish().expect("memory")
}

/// What is left of `bytes` that arrive in pieces of `size`.
fn unpacked(bytes: &[u8], size: usize, limit: usize) -> io::Result<(Vec<u8>, End)> {
    let mut gunzip = Gunzip::new(limit);
    for piece in bytes.chunks(size) {
        if gunzip.take(piece)? == End::Cut {
            let body = gunzip.cut();
            return Ok((body.bytes, body.end));
        }
    }
    let body = gunzip.whole()?;
    Ok((body.bytes, body.end))
}

#[test]
fn pieces_of_any_size_give_the_same_bytes() {
    let text: Vec<u8> = (0..10_000_u32).flat_map(u32::to_le_bytes).collect();
    let bytes = packed(&text);
    for size in [1, 7, 4_096, bytes.len()] {
        let got = unpacked(&bytes, size, 1 << 20).expect("gzip");
        assert_eq!(got, (text.clone(), End::Whole), "{size}");
    }
}

#[test]
fn several_members_are_one_text() {
    let bytes = [packed(b"ab"), packed(b"cd")].concat();
    let got = unpacked(&bytes, 5, 100).expect("gzip");
    assert_eq!(got, (b"abcd".to_vec(), End::Whole));
}

#[test]
fn unpacking_stops_at_the_limit_and_no_more_is_in_memory() {
    let bytes = packed(&vec![0; 16 << 20]);
    assert!(bytes.len() < 100_000);
    let (kept, end) = unpacked(&bytes, bytes.len(), 1_000).expect("gzip");
    assert_eq!((kept.len(), end), (1_000, End::Cut));
    assert!(kept.capacity() < 100_000);
    let (kept, end) = unpacked(&packed(b"abc"), 100, 3).expect("gzip");
    assert_eq!((kept.len(), end), (3, End::Whole));
}

#[test]
fn what_is_no_gzip_or_breaks_off_is_an_error() {
    let bytes = packed(&[7; 1_000]);
    for broken in [&b"hello"[..], &bytes[..bytes.len() - 1], &bytes[..5]] {
        assert!(unpacked(broken, 64, 10_000).is_err());
    }
}
