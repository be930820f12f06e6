//! Redirects that a lenient reader would take elsewhere; the corpus has the rest.

use super::*;
use proptest::prelude::*;

fn at(text: &str) -> Target {
    Target::parse(text).expect("a target")
}

#[test]
fn a_redirect_is_read_against_the_url_that_gave_it() {
    let here = at("https://example.com/a/b?c");
    let cases = [
        ("d", "https://example.com/a/d"),
        ("/d", "https://example.com/d"),
        ("?d", "https://example.com/a/b?d"),
        ("//www.example.com/d", "https://www.example.com/d"),
        ("HTTPS://www.example.com", "https://www.example.com/"),
        ("https:d", "https://example.com/a/d"),
        ("/x@y:z", "https://example.com/x@y:z"),
    ];
    for (location, want) in cases {
        let there = here.redirected(location);
        assert_eq!(there.as_ref().map(Target::as_str), Ok(want), "{location}");
    }
}

#[test]
fn a_redirect_to_what_is_not_fetched_is_refused() {
    let here = at("https://example.com/a");
    let cases = [
        ("", WebRefusal::BadRedirect),
        ("/a b", WebRefusal::BadRedirect),
        ("/é", WebRefusal::BadRedirect),
        ("https://", WebRefusal::BadRedirect),
        ("/\t", WebRefusal::ControlChar),
        ("/\\x", WebRefusal::Backslash),
        ("https://@example.com/", WebRefusal::UserInfo),
        ("//u@example.com/", WebRefusal::UserInfo),
        ("http:/x", WebRefusal::Scheme),
        ("javascript:x", WebRefusal::Scheme),
        ("//localhost/", WebRefusal::LocalName),
        ("//intranet/", WebRefusal::SingleLabel),
        (
            "//0x7f.1/",
            WebRefusal::Address(crate::AddressClass::Loopback),
        ),
        ("//example.com:8443/", WebRefusal::Port),
    ];
    for (location, want) in cases {
        assert_eq!(here.redirected(location), Err(want), "{location:?}");
    }
}

#[test]
fn nothing_of_a_url_shows_when_it_is_debugged() {
    let shown = format!("{:?}", at("https://example.com/secret"));
    assert_eq!(shown, "Target(26 bytes)");
}

proptest! {
    #[test]
    fn whatever_is_read_is_https_on_its_port_with_a_public_looking_host(
        text in "https://[-a-z0-9.:@/\\\\%\\[\\]#?éー。 ]{0,40}"
    ) {
        if let Ok(target) = Target::parse(&text) {
            prop_assert_eq!(target.url().scheme(), "https");
            prop_assert_eq!(target.url().port_or_known_default(), Some(443));
            prop_assert!(target.url().username().is_empty());
            match target.place() {
                Place::Name(name) => prop_assert!(name.contains('.') && !name.ends_with('.')),
                Place::Address(address) => prop_assert!(is_public(*address).is_ok()),
            }
            // Read again it is the same.
            prop_assert_eq!(&at(target.as_str()), &target);
        }
    }
}
