//! `multipart/form-data`, as far as clients of Discord use it.
//!
//! In: a whole body and its boundary. Out: the parts, borrowed from it.
//! Never: nested multiparts or transfer encodings; nobody sends them.

/// One part.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part<'a> {
    pub(crate) name: String,
    pub(crate) filename: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) bytes: &'a [u8],
}

/// The boundary in a `Content-Type` header.
pub(crate) fn boundary(content_type: &str) -> Option<String> {
    let value = content_type.split(';').find_map(|item| {
        let (key, value) = item.trim().split_once('=')?;
        key.eq_ignore_ascii_case("boundary")
            .then(|| value.trim_matches('"').to_owned())
    })?;
    (!value.is_empty() && value.len() <= 200).then_some(value)
}

/// The parts of a body; nothing when it is not well formed.
pub(crate) fn parts<'a>(body: &'a [u8], boundary: &str) -> Option<Vec<Part<'a>>> {
    let opening = format!("--{boundary}");
    let between = format!("\r\n--{boundary}");
    let mut rest = body.get(find(body, opening.as_bytes())? + opening.len()..)?;
    let mut parts = Vec::new();
    loop {
        if rest.starts_with(b"--") {
            return Some(parts);
        }
        rest = rest.strip_prefix(b"\r\n")?;
        let end = find(rest, between.as_bytes())?;
        parts.push(part(rest.get(..end)?)?);
        rest = rest.get(end + between.len()..)?;
    }
}

fn part(bytes: &[u8]) -> Option<Part<'_>> {
    let head_end = find(bytes, b"\r\n\r\n")?;
    let head = std::str::from_utf8(bytes.get(..head_end)?).ok()?;
    let mut part = Part {
        name: String::new(),
        filename: None,
        content_type: None,
        bytes: &[],
    };
    for line in head.split("\r\n") {
        let (key, value) = line.split_once(':')?;
        if key.eq_ignore_ascii_case("content-disposition") {
            part.name = parameter(value, "name")?;
            part.filename = parameter(value, "filename");
        } else if key.eq_ignore_ascii_case("content-type") {
            part.content_type = Some(value.trim().to_owned());
        }
    }
    part.bytes = bytes.get(head_end + 4..)?;
    Some(part)
}

fn parameter(header: &str, wanted: &str) -> Option<String> {
    header.split(';').find_map(|item| {
        let (key, value) = item.trim().split_once('=')?;
        key.eq_ignore_ascii_case(wanted)
            .then(|| value.trim_matches('"').to_owned())
    })
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] =
        b"--x\r\nContent-Disposition: form-data; name=\"payload_json\"\r\n\r\n{}\r\n\
--x\r\nContent-Disposition: form-data; name=\"files[0]\"; filename=\"a.txt\"\r\n\
Content-Type: text/plain\r\n\r\nhi\r\n\r\n--x--\r\n";

    #[test]
    fn fields_and_files_are_found() {
        let found = parts(BODY, "x").expect("well formed");
        assert_eq!(found.len(), 2);
        assert_eq!(
            (found[0].name.as_str(), found[0].bytes),
            ("payload_json", &b"{}"[..])
        );
        assert_eq!(found[1].filename.as_deref(), Some("a.txt"));
        assert_eq!(found[1].bytes, b"hi\r\n");
    }

    #[test]
    fn a_body_that_is_cut_gives_nothing() {
        for cut in 0..BODY.len() - 4 {
            assert_eq!(parts(&BODY[..cut], "x"), None, "cut at byte {cut}");
        }
    }

    #[test]
    fn the_boundary_may_be_quoted() {
        let cases = [
            ("multipart/form-data; boundary=abc", Some("abc")),
            ("multipart/form-data; boundary=\"a b\"", Some("a b")),
            ("multipart/form-data", None),
        ];
        for (header, want) in cases {
            assert_eq!(boundary(header).as_deref(), want, "{header}");
        }
    }
}
