//! The classes of addresses that are not public, with their codes and sentences.
//!
//! In: nothing. Out: one closed enum. Never: the address itself, which a refusal must not repeat.

/// Why an address is not one of the public internet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressClass {
    /// `0.0.0.0/8`: this network; many systems connect such an address to themselves.
    ThisNetwork,
    /// A private IPv4 network.
    Private,
    /// `100.64.0.0/10`: shared between a provider and its customers.
    SharedCgnat,
    /// The machine itself.
    Loopback,
    /// One link; clouds serve their metadata there.
    LinkLocal,
    /// Protocol assignments of the IETF.
    IetfAssignments,
    /// Examples in texts.
    Documentation,
    /// Name servers for private addresses.
    As112,
    /// Relays of multicast tunnels.
    Amt,
    /// The retired relays of 6to4.
    SixToFourRelay,
    /// Benchmarks, and the made-up answers of some local proxies.
    Benchmarking,
    /// Groups of receivers.
    Multicast,
    /// Reserved for later.
    Reserved,
    /// Everybody on a link.
    Broadcast,
    /// A cloud's host, reached from inside a virtual machine.
    CloudPlatform,
    /// `::`.
    Unspecified,
    /// `::/96`: an IPv4 address in the low bits.
    Ipv4Compatible,
    /// `::ffff:0:0/96`: an IPv4 address in the low bits.
    Ipv4Mapped,
    /// `::ffff:0:0:0/96`: an IPv4 address in the low bits.
    Ipv4Translated,
    /// `64:ff9b::/96`: an IPv4 address behind a translator.
    Nat64,
    /// `64:ff9b:1::/48`: an IPv4 address behind a local translator.
    Nat64Local,
    /// What is thrown away.
    Discard,
    /// A prefix that stands for none.
    Dummy,
    /// A tunnel with an IPv4 address inside.
    Teredo,
    /// Hashes of keys, no places.
    Orchid,
    /// `2002::/16`: a tunnel with an IPv4 address inside.
    SixToFour,
    /// Segments of a provider's own routing.
    Srv6,
    /// A private IPv6 network.
    UniqueLocal,
    /// The retired private IPv6 networks.
    SiteLocal,
    /// A tunnel with an IPv4 address in its interface identifier.
    Isatap,
    /// Nobody was given it.
    Unallocated,
    /// An interface of the machine we run on has this address.
    ThisMachine,
}

impl AddressClass {
    /// The stable code, for records.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::ThisNetwork => "this-network",
            Self::Private => "private",
            Self::SharedCgnat => "shared-cgnat",
            Self::Loopback => "loopback",
            Self::LinkLocal => "link-local",
            Self::IetfAssignments => "ietf-assignments",
            Self::Documentation => "documentation",
            Self::As112 => "as112",
            Self::Amt => "amt",
            Self::SixToFourRelay => "6to4-relay",
            Self::Benchmarking => "benchmarking",
            Self::Multicast => "multicast",
            Self::Reserved => "reserved",
            Self::Broadcast => "broadcast",
            Self::CloudPlatform => "cloud-platform",
            Self::Unspecified => "unspecified",
            Self::Ipv4Compatible => "ipv4-compatible",
            Self::Ipv4Mapped => "ipv4-mapped",
            Self::Ipv4Translated => "ipv4-translated",
            Self::Nat64 => "nat64",
            Self::Nat64Local => "nat64-local",
            Self::Discard => "discard",
            Self::Dummy => "dummy",
            Self::Teredo => "teredo",
            Self::Orchid => "orchid",
            Self::SixToFour => "6to4",
            Self::Srv6 => "srv6",
            Self::UniqueLocal => "unique-local",
            Self::SiteLocal => "site-local",
            Self::Isatap => "isatap",
            Self::Unallocated => "unallocated",
            Self::ThisMachine => "this-machine",
        }
    }

    /// What a person or a model is told.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::ThisNetwork => "the address is of this network itself",
            Self::Private | Self::UniqueLocal | Self::SiteLocal => {
                "the address is of a private network"
            }
            Self::SharedCgnat => "the address is shared inside a provider",
            Self::Loopback => "the address is this machine's loopback",
            Self::LinkLocal => "the address is local to one link",
            Self::IetfAssignments => "the address is set aside for a protocol",
            Self::Documentation => "the address is an example for texts",
            Self::As112 => "the address belongs to a name service",
            Self::Amt => "the address belongs to a multicast relay",
            Self::SixToFourRelay => "the address belongs to a retired relay",
            Self::Benchmarking => {
                "the address is of the benchmark range 198.18.0.0/15 or 2001:2::/48; a local proxy \
                 that makes up answers gives such addresses for every name"
            }
            Self::Multicast => "the address is a group and no machine",
            Self::Reserved => "the address is reserved",
            Self::Broadcast => "the address means everybody on a link",
            Self::CloudPlatform => "the address is a cloud's own host",
            Self::Unspecified => "the address means none in particular",
            Self::Ipv4Compatible | Self::Ipv4Mapped | Self::Ipv4Translated => {
                "the address hides an IPv4 address"
            }
            Self::Nat64 => "the address leads to an IPv4 address behind a translator",
            Self::Nat64Local => "the address leads to an IPv4 address behind a local translator",
            Self::Discard => "the address is for what is thrown away",
            Self::Dummy => "the address stands for none",
            Self::Teredo | Self::SixToFour | Self::Isatap => {
                "the address is a tunnel to an IPv4 address"
            }
            Self::Orchid => "the address is a hash and no place",
            Self::Srv6 => "the address belongs to a provider's routing",
            Self::Unallocated => "the address was given to nobody",
            Self::ThisMachine => "the address is this machine's own",
        }
    }
}
