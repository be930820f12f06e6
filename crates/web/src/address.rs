//! Which addresses belong to the public internet.
//!
//! In: an address. Out: nothing, or the class that keeps it out. Never: a look inside an address
//! that carries another one (a mapped, translated or tunnelled form); such a form is refused whole.
//!
//! The ranges are those of the IANA special-purpose registries for IPv4 and IPv6, with a few that
//! stand in no registry. Blocks that the registries call globally reachable, but where nobody
//! serves pages (relays, anycast of name services), are refused as well.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

mod class;

pub use class::AddressClass;

use AddressClass as Class;

/// One range: its first address, the length of its prefix, its class, and where that is written.
struct Range<A> {
    first: A,
    prefix: u32,
    class: AddressClass,
    #[cfg_attr(not(test), expect(dead_code, reason = "for the reader of the table"))]
    source: &'static str,
}

const fn v4(octets: [u8; 4], prefix: u32, class: Class, source: &'static str) -> Range<u32> {
    Range {
        first: u32::from_be_bytes(octets),
        prefix,
        class,
        source,
    }
}

const fn v6(groups: [u16; 8], prefix: u32, class: Class, source: &'static str) -> Range<u128> {
    let [a, b, c, d, e, f, g, h] = groups;
    Range {
        first: Ipv6Addr::new(a, b, c, d, e, f, g, h).to_bits(),
        prefix,
        class,
        source,
    }
}

/// The first range that holds an address gives its class.
const V4: [Range<u32>; 20] = [
    v4([0, 0, 0, 0], 8, Class::ThisNetwork, "RFC 791"),
    v4([10, 0, 0, 0], 8, Class::Private, "RFC 1918"),
    v4([100, 64, 0, 0], 10, Class::SharedCgnat, "RFC 6598"),
    v4([127, 0, 0, 0], 8, Class::Loopback, "RFC 1122"),
    v4([169, 254, 0, 0], 16, Class::LinkLocal, "RFC 3927"),
    v4([172, 16, 0, 0], 12, Class::Private, "RFC 1918"),
    v4([192, 0, 0, 0], 24, Class::IetfAssignments, "RFC 6890"),
    v4([192, 0, 2, 0], 24, Class::Documentation, "RFC 5737"),
    v4([192, 31, 196, 0], 24, Class::As112, "RFC 7535"),
    v4([192, 52, 193, 0], 24, Class::Amt, "RFC 7450"),
    v4([192, 88, 99, 0], 24, Class::SixToFourRelay, "RFC 7526"),
    v4([192, 168, 0, 0], 16, Class::Private, "RFC 1918"),
    v4([192, 175, 48, 0], 24, Class::As112, "RFC 7534"),
    v4([198, 18, 0, 0], 15, Class::Benchmarking, "RFC 2544"),
    v4([198, 51, 100, 0], 24, Class::Documentation, "RFC 5737"),
    v4([203, 0, 113, 0], 24, Class::Documentation, "RFC 5737"),
    v4([224, 0, 0, 0], 4, Class::Multicast, "RFC 5771"),
    v4([255, 255, 255, 255], 32, Class::Broadcast, "RFC 919"),
    v4([240, 0, 0, 0], 4, Class::Reserved, "RFC 1112"),
    // In no registry: Azure's host answers here from inside a virtual machine.
    v4(
        [168, 63, 129, 16],
        32,
        Class::CloudPlatform,
        "Azure documentation",
    ),
];

/// The first range that holds an address gives its class; what no range holds must lie in 2000::/3.
const V6: [Range<u128>; 26] = [
    v6([0; 8], 128, Class::Unspecified, "RFC 4291"),
    v6([0, 0, 0, 0, 0, 0, 0, 1], 128, Class::Loopback, "RFC 4291"),
    v6([0; 8], 96, Class::Ipv4Compatible, "RFC 4291"),
    v6(
        [0, 0, 0, 0, 0, 0xffff, 0, 0],
        96,
        Class::Ipv4Mapped,
        "RFC 4291",
    ),
    v6(
        [0, 0, 0, 0, 0xffff, 0, 0, 0],
        96,
        Class::Ipv4Translated,
        "RFC 2765",
    ),
    v6(
        [0x64, 0xff9b, 0, 0, 0, 0, 0, 0],
        96,
        Class::Nat64,
        "RFC 6052",
    ),
    v6(
        [0x64, 0xff9b, 1, 0, 0, 0, 0, 0],
        48,
        Class::Nat64Local,
        "RFC 8215",
    ),
    v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64, Class::Discard, "RFC 6666"),
    v6([0x100, 0, 0, 1, 0, 0, 0, 0], 64, Class::Dummy, "RFC 9780"),
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, Class::Teredo, "RFC 4380"),
    v6(
        [0x2001, 2, 0, 0, 0, 0, 0, 0],
        48,
        Class::Benchmarking,
        "RFC 5180",
    ),
    v6(
        [0x2001, 0x10, 0, 0, 0, 0, 0, 0],
        28,
        Class::Orchid,
        "RFC 4843",
    ),
    v6(
        [0x2001, 0x20, 0, 0, 0, 0, 0, 0],
        28,
        Class::Orchid,
        "RFC 7343",
    ),
    // Also AMT, AS112, drone identifiers and anycast of port control and TURN.
    v6(
        [0x2001, 0, 0, 0, 0, 0, 0, 0],
        23,
        Class::IetfAssignments,
        "RFC 2928",
    ),
    v6(
        [0x2001, 0xdb8, 0, 0, 0, 0, 0, 0],
        32,
        Class::Documentation,
        "RFC 3849",
    ),
    v6(
        [0x2002, 0, 0, 0, 0, 0, 0, 0],
        16,
        Class::SixToFour,
        "RFC 3056",
    ),
    v6(
        [0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0],
        48,
        Class::As112,
        "RFC 7534",
    ),
    v6(
        [0x3fff, 0, 0, 0, 0, 0, 0, 0],
        20,
        Class::Documentation,
        "RFC 9637",
    ),
    v6([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16, Class::Srv6, "RFC 9602"),
    v6(
        [0xfc00, 0, 0, 0, 0, 0, 0, 0],
        7,
        Class::UniqueLocal,
        "RFC 4193",
    ),
    v6(
        [0xfe80, 0, 0, 0, 0, 0, 0, 0],
        10,
        Class::LinkLocal,
        "RFC 4291",
    ),
    v6(
        [0xfec0, 0, 0, 0, 0, 0, 0, 0],
        10,
        Class::SiteLocal,
        "RFC 3879",
    ),
    v6(
        [0xff00, 0, 0, 0, 0, 0, 0, 0],
        8,
        Class::Multicast,
        "RFC 4291",
    ),
    // Only 2000::/3 is given out; these three are everything else.
    v6([0; 8], 3, Class::Unallocated, "RFC 4291"),
    v6(
        [0x4000, 0, 0, 0, 0, 0, 0, 0],
        2,
        Class::Unallocated,
        "RFC 4291",
    ),
    v6(
        [0x8000, 0, 0, 0, 0, 0, 0, 0],
        1,
        Class::Unallocated,
        "RFC 4291",
    ),
];

/// Says whether an address belongs to the public internet.
///
/// # Errors
/// The class that keeps it out. [`AddressClass::ThisMachine`] is never among them: which
/// addresses a machine has is no property of the address.
pub fn is_public(address: IpAddr) -> Result<(), AddressClass> {
    let class = match address {
        IpAddr::V4(address) => class_of_v4(address),
        IpAddr::V6(address) => class_of_v6(address),
    };
    class.map_or(Ok(()), Err)
}

fn class_of_v4(address: Ipv4Addr) -> Option<Class> {
    let bits = address.to_bits();
    let held = |range: &&Range<u32>| (bits ^ range.first).leading_zeros() >= range.prefix;
    V4.iter().find(held).map(|range| range.class)
}

fn class_of_v6(address: Ipv6Addr) -> Option<Class> {
    let bits = address.to_bits();
    let held = |range: &&Range<u128>| (bits ^ range.first).leading_zeros() >= range.prefix;
    let listed = V6.iter().find(held).map(|range| range.class);
    // RFC 5214: an interface identifier that tunnels to the IPv4 address in its last half, in any
    // network.
    let [.., first, second, _, _] = address.segments();
    let isatap = second == 0x5efe && (first == 0 || first == 0x0200);
    listed.or(isatap.then_some(Class::Isatap))
}

#[cfg(test)]
mod tests;
