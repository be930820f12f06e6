//! Kinds by their header, and texts by their charset.

use super::*;

fn text(header: &str, bytes: &[u8]) -> Result<String, WebRefusal> {
    Media::parse(header)?.text(bytes).map(Cow::into_owned)
}

#[test]
fn html_plain_text_json_and_xml_are_read_and_nothing_else() {
    let kinds: [(Option<Kind>, &[&str]); 5] = [
        (
            Some(Kind::Html),
            &["text/html", "TEXT/HTML ; charset=utf-8"],
        ),
        (Some(Kind::Xhtml), &["application/xhtml+xml"]),
        (
            Some(Kind::Xml),
            &[
                "text/xml",
                "application/xml",
                "application/rss+xml",
                "image/svg+xml",
            ],
        ),
        (
            Some(Kind::Plain),
            &[
                "text/plain",
                "text/markdown",
                "text/x-markdown",
                "text/csv",
                "text/tab-separated-values",
                "text/x-python",
                "text/x-diff",
                "application/json;charset=utf-8",
                "text/json",
                "application/ld+json",
                "model/gltf+json",
                "application/x-ndjson",
                "application/jsonl",
                "application/json-seq",
                "application/geo+json-seq",
            ],
        ),
        (
            None,
            &[
                "text/css",
                "text/javascript",
                "text/x-javascript",
                "application/javascript",
                "text/calendar",
                "text/event-stream",
                "text/rtf",
                "text/vnd.made-up",
                "application/yaml",
                "application/octet-stream",
                "application/pdf",
                "image/png",
                "application/jsonp",
                "text/html, application/pdf",
                "te xt/plain",
                "/plain",
                "text",
                "text/",
                "",
                "*/*",
            ],
        ),
    ];
    for (want, headers) in kinds {
        for header in headers {
            let kind = Media::parse(header).map(|media| media.kind);
            assert_eq!(kind, want.ok_or(WebRefusal::ContentType), "{header}");
        }
    }
    // The type is told to the model, so that it is bounded as well.
    let long = format!("application/{}+json", "x".repeat(300));
    assert_eq!(Media::parse(&long), Err(WebRefusal::ContentType));
}

#[test]
fn a_charset_is_taken_from_where_it_is_surest() {
    let latin = b"caf\xe9";
    let meta = b"<meta charset=windows-1251>\xe9";
    let equiv = b"<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>\xc1";
    let html = "text/html";
    let cases: [(&str, &[u8], &str); 13] = [
        ("text/html; charset=ISO-8859-1", latin, "café"),
        ("text/html; charset=\"windows-1252\"", latin, "café"),
        (
            "text/html; charset=windows-1252",
            b"\xef\xbb\xbfcaf\xc3\xa9",
            "café",
        ),
        ("text/plain; charset=latin1", b"\xff\xfeh\0i\0", "hi"),
        ("text/html; charset=utf-16be", b"\0h\0i", "hi"),
        ("text/html; charset=shift_jis", b"\x83\x65", "テ"),
        ("text/html; charset=nobody-knows", b"caf\xc3\xa9", "café"),
        (html, meta, "<meta charset=windows-1251>й"),
        (
            html,
            b"<meta charset=utf-16>caf\xc3\xa9",
            "<meta charset=utf-16>café",
        ),
        (html, latin, "café"),
        (html, b"caf\xc3\xa9", "café"),
        (html, b"caf\xc3\xa9 \xc3", "café \u{fffd}"),
        (
            "text/xml",
            b"<?xml version='1.0' encoding='iso-8859-1'?>\xe9",
            "<?xml version='1.0' encoding='iso-8859-1'?>é",
        ),
    ];
    for (header, bytes, want) in cases {
        assert_eq!(text(header, bytes).as_deref(), Ok(want), "{header} {want}");
    }
    let read = text(html, equiv).expect("text");
    assert!(read.ends_with('а'), "{read}");
    // The header wins over the text's own word.
    let read = text("text/html; charset=utf-8", meta).expect("text");
    assert!(read.ends_with('\u{fffd}'), "{read}");
}

#[test]
fn a_label_that_nobody_knows_leaves_the_word_to_the_text() {
    let russian = b"<meta charset=windows-1251>\xcf\xf0\xe8";
    let xml = b"<?xml version='1.0' encoding='iso-8859-1'?>\xe9";
    let cases: [(&str, &[u8], &str); 6] = [
        ("text/html; charset=foo", russian, "При"),
        ("text/html; charset=", russian, "При"),
        ("application/xml; charset=none", xml, "é"),
        // The first one that is known.
        (
            "text/html",
            b"<meta charset=foo><meta charset=windows-1251>\xcf",
            "П",
        ),
        // A description declares nothing.
        (
            "text/html",
            b"<meta name=description content='on charset=koi8-r'>\xe9",
            "é",
        ),
        (
            "text/html",
            b"<meta http-equiv=content-type content='text/html; charset = \"koi8-r\"; a=b'>\xc1",
            "а",
        ),
    ];
    for (header, bytes, want) in cases {
        let read = text(header, bytes).expect("text");
        assert!(read.ends_with(want), "{header}: {read}");
    }
}

#[test]
fn parameters_are_read_as_they_are_quoted() {
    let cases = [
        ("; charset='iso-8859-1'", Some("iso-8859-1")),
        (";charset=\"iso-8859-1\"", Some("iso-8859-1")),
        (
            "; foo=\"a;charset=utf-8\"; Charset = iso-8859-1 ; b=c",
            Some("iso-8859-1"),
        ),
        ("; foo=\"a\\\";charset=utf-8\"; charset=b", Some("b")),
        ("; charset=a; charset=b", Some("a")),
        ("; charset; ;; charset=b", Some("b")),
        ("; charset=\"a", Some("a")),
        ("; foo=\"charset=a", None),
        ("; xcharset=a", None),
        ("", None),
    ];
    for (parameters, want) in cases {
        let label = label::in_parameters(parameters);
        assert_eq!(label.as_deref(), want, "{parameters}");
    }
}

#[test]
fn a_text_may_begin_with_the_letters_of_a_format() {
    let letters = [
        "%PDF-1.7 is a header",
        "GIF87a is the old format",
        "GIF89a is the new one",
        "BZh is a name",
        "Rar! is a word",
        "OggS pages start",
        "wOF2 é",
    ];
    for letter in letters {
        let plain = text("text/plain", letter.as_bytes());
        assert_eq!(plain.as_deref(), Ok(letter));
        // The formats themselves go on with bytes that no text has.
        for rest in [b"\x1a\x07".as_slice(), b"\xe2\xe3\xcf\xd3 "] {
            let file = [&letter.as_bytes()[..4], rest].concat();
            let file = match letter.starts_with("%PDF") || letter.starts_with("GIF") {
                true => [&letter.as_bytes()[..6], rest].concat(),
                false => file,
            };
            let refused = text("text/plain", &file);
            assert_eq!(refused, Err(WebRefusal::Binary), "{letter}");
        }
    }
    // A character that the look ends inside of is no such byte.
    let long = format!("BZh{}é", " ".repeat(PRESCAN_BYTES - 4));
    assert_eq!(text("text/plain", long.as_bytes()), Ok(long));
}

#[test]
fn bytes_that_are_no_text_are_refused_whatever_they_claim() {
    let noise: Vec<u8> = (0..200_u8).map(|n| n.wrapping_mul(37) | 0x80).collect();
    let cases: [(&str, &[u8]); 7] = [
        ("text/plain", b"a\0b"),
        ("text/html", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"),
        ("text/html", b"\x89PNG\r\n\x1a\n"),
        ("application/json", b"PK\x03\x04"),
        ("text/plain", b"\x1f\x8b\x08"),
        ("text/html; charset=utf-8", &noise),
        (
            "text/html; charset=hz-gb-2312x; charset=utf-16",
            b"\xd8\x00\xd8\x00\xd8\x00\xd8\x00",
        ),
    ];
    for (header, bytes) in cases {
        assert_eq!(text(header, bytes), Err(WebRefusal::Binary), "{header}");
    }
}
