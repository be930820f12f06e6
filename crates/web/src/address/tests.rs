//! Edges of every range, and IPv4 addresses in every disguise.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn class(text: &str) -> Option<Class> {
    is_public(text.parse().expect("an address")).err()
}

#[test]
fn a_range_begins_at_its_first_and_ends_at_its_last_address() {
    for range in &V4 {
        let last = range.first | u32::MAX.checked_shr(range.prefix).unwrap_or(0);
        for edge in [range.first, last] {
            assert!(class_of_v4(edge.into()).is_some(), "{edge:x}");
        }
        assert_eq!(
            range.first.trailing_zeros().min(32 - range.prefix),
            32 - range.prefix
        );
        assert!(!range.source.is_empty());
    }
    for range in &V6 {
        let last = range.first | u128::MAX.checked_shr(range.prefix).unwrap_or(0);
        for edge in [range.first, last] {
            assert!(class_of_v6(edge.into()).is_some(), "{edge:x}");
        }
        assert!(
            range.first.trailing_zeros() >= 128 - range.prefix,
            "{:x}",
            range.first
        );
        assert!(!range.source.is_empty());
    }
}

#[test]
fn the_neighbours_of_special_ranges_are_public() {
    let cases = [
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "168.63.129.15",
        "168.63.129.17",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.0.3.0",
        "192.88.98.255",
        "192.88.100.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.99.255",
        "198.51.101.0",
        "203.0.112.255",
        "203.0.114.0",
        "223.255.255.255",
        "2000::",
        "2001:200::",
        "2001:db7:ffff::",
        "2001:db9::",
        "2003::",
        "2620:4f:7fff::",
        "2620:4f:8001::",
        "3ffe::",
        "3fff:1000::",
        "3fff:ffff::",
    ];
    for case in cases {
        assert_eq!(class(case), None, "{case}");
    }
}

#[test]
fn a_narrow_range_inside_a_wide_one_keeps_its_own_name() {
    let cases = [
        ("255.255.255.255", Class::Broadcast),
        ("2001::1", Class::Teredo),
        ("2001:2::1", Class::Benchmarking),
        ("2001:1::1", Class::IetfAssignments),
        ("::1", Class::Loopback),
        ("::", Class::Unspecified),
        ("::2", Class::Ipv4Compatible),
        ("1fff:ffff::", Class::Unallocated),
        ("4000::", Class::Unallocated),
        ("fbff::", Class::Unallocated),
        ("fe00::", Class::Unallocated),
    ];
    for (text, want) in cases {
        assert_eq!(class(text), Some(want), "{text}");
    }
}

#[test]
fn every_class_has_a_code_and_a_sentence_of_its_own() {
    let listed = V4.iter().map(|range| range.class);
    let all = listed.chain(V6.iter().map(|range| range.class));
    let classes: std::collections::HashSet<Class> = all.collect();
    let codes: BTreeSet<&str> = classes.iter().map(|class| class.code()).collect();
    assert_eq!(codes.len(), classes.len());
    assert!(
        classes
            .iter()
            .all(|class| class.text().starts_with("the address"))
    );
}

proptest! {
    #[test]
    fn an_ipv4_address_in_any_disguise_is_refused_whatever_it_is(bits: u32, network: u64) {
        let (high, low) = ((bits >> 16) as u16, bits as u16);
        let global = 0x2a00_u16;
        let tunnels = [
            [0, 0, 0, 0, 0, 0, high, low],
            [0, 0, 0, 0, 0, 0xffff, high, low],
            [0, 0, 0, 0, 0xffff, 0, high, low],
            [0x64, 0xff9b, 0, 0, 0, 0, high, low],
            [0x64, 0xff9b, 1, network as u16, 0, 0, high, low],
            [0x2002, high, low, 0, 0, 0, 0, network as u16],
            [0x2001, 0, high, low, 0, 0, !high, !low],
            [global, network as u16, 0, 1, 0, 0x5efe, high, low],
            [global, network as u16, 0, 1, 0x0200, 0x5efe, high, low],
        ];
        for [a, b, c, d, e, f, g, h] in tunnels {
            let address = Ipv6Addr::new(a, b, c, d, e, f, g, h);
            prop_assert!(is_public(address.into()).is_err(), "{}", address);
        }
    }

    #[test]
    fn outside_of_the_given_out_eighth_nothing_is_public(bits: u128) {
        let public = is_public(Ipv6Addr::from_bits(bits).into()).is_ok();
        prop_assert!(!public || bits >> 125 == 1);
    }
}
