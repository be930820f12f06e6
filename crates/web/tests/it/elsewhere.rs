//! Redirects and names that lead where nobody should go.

use crate::{
    reply::Reply,
    stage::{Answers, Script, Stage},
};
use guildhall_web::{AddressClass, WebRefusal};
use std::time::Duration;

const HOST: &str = "example.com";
const URL: &str = "https://example.com/";

#[tokio::test]
async fn fifty_redirects_are_three_and_a_refusal() {
    let stage = Stage::new(Script::public(&[HOST]), |number, _| match number {
        50 => Reply::html("<p>the end"),
        number => Reply::to(&format!("/{number}")),
    })
    .await;
    let refused = stage.fetch(URL).await;
    assert_eq!(refused, Err(WebRefusal::TooManyRedirects));
    assert_eq!(stage.heard().len(), 4);
}

/// One place of each class, and what it is refused with.
const NOT_PUBLIC: [(&str, WebRefusal); 35] = [
    (
        "https://127.0.0.1/",
        WebRefusal::Address(AddressClass::Loopback),
    ),
    (
        "https://0x7f.1/",
        WebRefusal::Address(AddressClass::Loopback),
    ),
    (
        "https://[::1]/",
        WebRefusal::Address(AddressClass::Loopback),
    ),
    (
        "https://0.0.0.0/",
        WebRefusal::Address(AddressClass::ThisNetwork),
    ),
    (
        "https://10.0.0.1/",
        WebRefusal::Address(AddressClass::Private),
    ),
    (
        "https://100.64.0.1/",
        WebRefusal::Address(AddressClass::SharedCgnat),
    ),
    (
        "https://192.0.0.192/",
        WebRefusal::Address(AddressClass::IetfAssignments),
    ),
    (
        "https://192.0.2.1/",
        WebRefusal::Address(AddressClass::Documentation),
    ),
    (
        "https://192.31.196.1/",
        WebRefusal::Address(AddressClass::As112),
    ),
    (
        "https://192.52.193.1/",
        WebRefusal::Address(AddressClass::Amt),
    ),
    (
        "https://192.88.99.1/",
        WebRefusal::Address(AddressClass::SixToFourRelay),
    ),
    (
        "https://198.18.0.1/",
        WebRefusal::Address(AddressClass::Benchmarking),
    ),
    (
        "https://224.0.0.1/",
        WebRefusal::Address(AddressClass::Multicast),
    ),
    (
        "https://240.0.0.1/",
        WebRefusal::Address(AddressClass::Reserved),
    ),
    (
        "https://255.255.255.255/",
        WebRefusal::Address(AddressClass::Broadcast),
    ),
    (
        "https://168.63.129.16/",
        WebRefusal::Address(AddressClass::CloudPlatform),
    ),
    (
        "https://[::]/",
        WebRefusal::Address(AddressClass::Unspecified),
    ),
    (
        "https://[::7f00:1]/",
        WebRefusal::Address(AddressClass::Ipv4Compatible),
    ),
    (
        "https://[::ffff:8.8.8.8]/",
        WebRefusal::Address(AddressClass::Ipv4Mapped),
    ),
    (
        "https://[64:ff9b::7f00:1]/",
        WebRefusal::Address(AddressClass::Nat64),
    ),
    (
        "https://[64:ff9b:1::1]/",
        WebRefusal::Address(AddressClass::Nat64Local),
    ),
    (
        "https://[100::1]/",
        WebRefusal::Address(AddressClass::Discard),
    ),
    (
        "https://[100:0:0:1::1]/",
        WebRefusal::Address(AddressClass::Dummy),
    ),
    (
        "https://[2001::1]/",
        WebRefusal::Address(AddressClass::Teredo),
    ),
    (
        "https://[2001:20::1]/",
        WebRefusal::Address(AddressClass::Orchid),
    ),
    (
        "https://[2002:7f00:1::]/",
        WebRefusal::Address(AddressClass::SixToFour),
    ),
    (
        "https://[5f00::1]/",
        WebRefusal::Address(AddressClass::Srv6),
    ),
    (
        "https://[fd00::1]/",
        WebRefusal::Address(AddressClass::UniqueLocal),
    ),
    (
        "https://[fec0::1]/",
        WebRefusal::Address(AddressClass::SiteLocal),
    ),
    (
        "https://[2a00::5efe:7f00:1]/",
        WebRefusal::Address(AddressClass::Isatap),
    ),
    (
        "https://[4000::1]/",
        WebRefusal::Address(AddressClass::Unallocated),
    ),
    (
        "https://inside.example.com/",
        WebRefusal::Address(AddressClass::Private),
    ),
    ("https://gone.example.com/", WebRefusal::Unresolved),
    ("https://printer.local/", WebRefusal::LocalName),
    ("https://intranet/", WebRefusal::SingleLabel),
];

#[tokio::test]
async fn a_redirect_into_a_network_that_is_not_public_gets_no_connection() {
    for (location, want) in NOT_PUBLIC {
        let addresses = |texts: &[&str]| {
            let parse = |text: &&str| text.parse().expect("an address");
            Answers::InTurn(vec![texts.iter().map(parse).collect()])
        };
        let script = Script::public(&[HOST])
            .with("inside.example.com", addresses(&["10.1.2.3"]))
            .with("both.example.com", addresses(&["93.184.215.14", "fd00::1"]));
        let stage = Stage::that_says(script, Reply::to(location)).await;
        assert_eq!(stage.fetch(URL).await, Err(want), "{location}");
        assert_eq!(
            (stage.heard().len(), stage.dialled().len()),
            (1, 1),
            "{location}"
        );
    }
}

#[tokio::test]
async fn a_name_that_changes_its_answer_gains_nothing() {
    let turns = |texts: &[&str]| {
        let parse = |text: &&str| vec![text.parse().expect("an address")];
        Answers::InTurn(texts.iter().map(parse).collect())
    };
    // Within one connection the first answer holds.
    let script = Script::default().with(HOST, turns(&["93.184.215.14", "127.0.0.1"]));
    let stage = Stage::that_says(script, Reply::html("<p>x")).await;
    assert!(stage.fetch(URL).await.is_ok());
    assert_eq!(
        stage.dialled(),
        ["93.184.215.14:443".parse().expect("an address")]
    );
    // A redirect to the same name is a new connection, and its answer is judged anew.
    let script = Script::default().with(HOST, turns(&["93.184.215.14", "127.0.0.1"]));
    let stage = Stage::that_says(script, Reply::to("/again")).await;
    let refused = stage.fetch(URL).await;
    assert_eq!(refused, Err(WebRefusal::Address(AddressClass::Loopback)));
    assert_eq!((stage.lookups().len(), stage.dialled().len()), (2, 1));
}

#[tokio::test]
async fn a_proxy_that_makes_addresses_up_is_named_as_the_likely_cause() {
    let made_up = vec!["198.18.0.77".parse().expect("an address")];
    let script = Script::default().with(HOST, Answers::InTurn(vec![made_up]));
    let stage = Stage::that_says(script, Reply::html("<p>x")).await;
    let refused = stage.fetch(URL).await.expect_err("a refusal");
    assert_eq!(refused, WebRefusal::Address(AddressClass::Benchmarking));
    assert!(refused.text().contains("a local proxy"), "{refused}");
    assert!(stage.dialled().is_empty());
}

#[tokio::test]
async fn a_look_up_that_hangs_ends_at_the_deadline() {
    let script = Script::default().with(HOST, Answers::Never);
    let stage = Stage::that_says(script, Reply::html("<p>x")).await;
    let outcome = stage.fetch_within(URL, Duration::from_millis(300)).await;
    assert_eq!(outcome, Err(WebRefusal::Timeout));
}
