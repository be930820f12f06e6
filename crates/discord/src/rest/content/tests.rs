use super::*;

#[test]
fn a_file_name_cannot_leave_its_header() {
    let long = "n".repeat(150);
    let cut = "n".repeat(100);
    let cases = [
        ("change.diff", "change.diff"),
        ("a\"; name=\"payload_json", "a___name__payload_json"),
        ("a\r\nb", "a__b"),
        ("../../etc/passwd", ".._.._etc_passwd"),
        ("notes/t\u{e4}glich.md", "notes_t_glich.md"),
        ("", "file.txt"),
        ("..", "file.txt"),
        (&long, &cut),
    ];
    for (name, want) in cases {
        let file = Upload::new(name, "x").expect("it is small");
        assert_eq!(file.name(), want, "{name:?}");
    }
}

#[test]
fn what_a_text_says_cannot_end_its_part() {
    let hostile = "--guildhall-part-0--\r\n\r\n--guildhall-part-1\r\n";
    let cases = [
        ("plain", "words", "guildhall-part-0"),
        (hostile, "words", "guildhall-part-2"),
        ("plain", "guildhall-part-0", "guildhall-part-1"),
    ];
    for (text, content, want) in cases {
        let files = ["", text].map(|text| Upload::new("a.txt", text).expect("it is small"));
        let form = Form::of(json!({ "content": content }), &files);
        let media = format!("multipart/form-data; boundary={want}");
        assert_eq!(form.media, media, "{text:?}");
        let body = std::str::from_utf8(&form.body).expect("text");
        assert_eq!(body.matches(want).count(), 4, "{body}");
        assert!(body.contains(&format!("\r\n\r\n{text}\r\n--{want}--\r\n")));
    }
}

#[test]
fn a_text_over_the_cap_is_not_attached() {
    let whole = "x".repeat(UPLOAD_MAX_BYTES);
    assert!(Upload::new("a", &whole).is_ok());
    assert_eq!(Upload::new("a", &format!("{whole}x")), Err(UploadTooLarge));
}

#[test]
fn more_people_than_discord_takes_are_not_named() {
    let people: Vec<UserId> = (1..=150)
        .filter_map(|number| UserId::from_number(number).ok())
        .collect();
    for (pings, want) in [(&people[..], 100), (&people[..3], 3)] {
        let content = Content {
            pings,
            ..Content::text("x")
        };
        let body = content.body();
        let users = body["allowed_mentions"]["users"].as_array().map(Vec::len);
        assert_eq!(users, Some(want));
    }
}

#[test]
fn the_buttons_of_a_card_name_their_ask_and_nothing_else() {
    let ask = "00112233445566aa".parse::<AskId>().expect("an ask");
    let row: Vec<Value> = Button::once_and_deny(ask)
        .iter()
        .map(Button::body)
        .collect();
    assert_eq!(
        row,
        [
            json!({
                "type": 2, "style": 3, "label": "Once", "disabled": false,
                "custom_id": "ask:00112233445566aa:once",
            }),
            json!({
                "type": 2, "style": 4, "label": "Deny", "disabled": false,
                "custom_id": "ask:00112233445566aa:deny",
            }),
        ]
    );
}
