//! Every request that the client makes, against Discord's own description of its API.

use crate::fake::{Answer, Api, Asked, bot, client, guild, hall, message, message_id};
use guildhall_binding::ids::ApplicationId;
use guildhall_discord::{
    InteractionToken, Rest,
    rest::{Button, ButtonLook, ButtonState, Content, Nonce, Page, Press, Reply, Upload},
};
use serde_json::{Value, json};

/// The description; its README tells where it is from.
fn description() -> Value {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/discord-openapi.json"
    );
    let text = std::fs::read_to_string(path).expect("the description is in the tree");
    serde_json::from_str(&text).expect("the description is JSON")
}

/// The path template that a path fits, the most literal one where several do.
fn template<'a>(paths: &'a Value, path: &str) -> Option<&'a str> {
    let wanted: Vec<&str> = path.split('/').collect();
    let is_open = |part: &str| part.starts_with('{');
    let fits = |template: &&String| {
        let parts: Vec<&str> = template.split('/').collect();
        let alike = |(part, wanted): (&&str, &&str)| is_open(part) || part == wanted;
        parts.len() == wanted.len() && parts.iter().zip(&wanted).all(alike)
    };
    let paths = paths.as_object().expect("paths are an object");
    let fitting = paths.keys().filter(fits);
    fitting
        .min_by_key(|template| template.matches('{').count())
        .map(String::as_str)
}

fn check(description: &Value, asked: &Asked) {
    let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
    let path = path
        .strip_prefix("/api/v10")
        .expect("every path names its version");
    let template = template(&description["paths"], path).expect(path);
    let item = &description["paths"][template];
    let method = asked.method.to_lowercase();
    let operation = &item[&method];
    assert!(operation.is_object(), "no {method} at {template}");

    let parameters = [&item["parameters"], &operation["parameters"]];
    let known: Vec<&str> = parameters
        .iter()
        .filter_map(|list| list.as_array())
        .flatten()
        .filter(|parameter| parameter["in"] == "query")
        .filter_map(|parameter| parameter["name"].as_str())
        .collect();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let name = pair.split('=').next().unwrap_or_default();
        assert!(
            known.contains(&name),
            "{template} knows no {name}: {known:?}"
        );
    }
    if asked.body.is_empty() {
        let required = operation["requestBody"]["required"] == json!(true);
        assert!(!required, "{template} wants a body");
        return;
    }
    let taken = &operation["requestBody"]["content"];
    for part in asked.parts().iter().skip(1) {
        let file = field(&part.head);
        let form = &taken["multipart/form-data"]["schema"]["allOf"];
        let takes = |part: &Value| part["properties"][&file].is_object();
        let parts = form.as_array().expect("a form has parts");
        assert!(parts.iter().any(takes), "{template} takes no {file}");
    }
    let schema = &taken["application/json"]["schema"];
    assert!(schema.is_object(), "{template} takes no JSON");
    // The schema is compiled inside its document, so that its references are found.
    let mut document = description.clone();
    document["allOf"] = json!([schema]);
    let validator = jsonschema::validator_for(&document).expect("a schema");
    let body = asked.json();
    let faults: Vec<String> = validator
        .iter_errors(&body)
        .map(|e| e.to_string())
        .collect();
    assert!(faults.is_empty(), "{template}: {faults:?}");
    only_known_fields(description, schema, &body, template);
}

/// Which field of its form a part is.
fn field(head: &str) -> String {
    let (_, name) = head.split_once("; name=\"").expect("a part has a name");
    name.split('"').next().unwrap_or_default().to_owned()
}

/// The description allows more fields than it names; a misspelt one is ours to find.
fn only_known_fields(description: &Value, schema: &Value, body: &Value, template: &str) {
    let Some(reference) = schema["$ref"].as_str() else {
        return;
    };
    let pointer = reference.trim_start_matches('#');
    let named = description
        .pointer(pointer)
        .expect("a reference leads somewhere");
    if let Some(properties) = named["properties"].as_object() {
        for field in body.as_object().expect("bodies are objects").keys() {
            assert!(
                properties.contains_key(field),
                "{template} knows no {field}"
            );
        }
    }
}

fn buttons() -> Vec<Vec<Button>> {
    let button = |label: &str, look, state| Button {
        label: label.into(),
        custom_id: format!("ask:x:{label}"),
        look,
        state,
    };
    vec![vec![
        button("once", ButtonLook::Success, ButtonState::Live),
        button("deny", ButtonLook::Danger, ButtonState::Grey),
        button("show", ButtonLook::Primary, ButtonState::Live),
        button("hide", ButtonLook::Secondary, ButtonState::Live),
    ]]
}

async fn read_everything(rest: &Rest) {
    drop(rest.gateway_bot().await);
    drop(rest.me().await);
    drop(rest.application().await);
    drop(rest.guild(guild()).await);
    drop(rest.guild_channels(guild()).await);
    drop(rest.active_threads(guild()).await);
    drop(rest.channel(hall()).await);
    drop(rest.member(guild(), bot()).await);
    let seventh = message_id(7);
    let pages = [
        Page::Latest,
        Page::After(seventh),
        Page::Before(seventh),
        Page::Around(seventh),
    ];
    for page in pages {
        drop(rest.messages(hall(), Some(guild()), page, 100).await);
    }
    drop(rest.message(hall(), Some(guild()), seventh).await);
}

async fn change_everything(rest: &Rest) {
    let rows = buttons();
    let people = [bot()];
    let card = Content {
        text: "may it?",
        pings: &people,
        buttons: &rows,
    };
    let nonce = Nonce::parse("MFRGGZDFMZTWQ2LKNNWG23TP").expect("a nonce");
    let token = InteractionToken::parse("aW50ZXJhY3Rpb24").expect("a token");
    let press = "12".parse().expect("an interaction");
    let application = ApplicationId::from_number(101).expect("not zero");
    let seventh = message_id(7);
    drop(
        rest.create_message(hall(), Content::text("x"), &nonce, Reply::No)
            .await,
    );
    drop(
        rest.create_message(hall(), card, &nonce, Reply::To(seventh))
            .await,
    );
    let file = |name| Upload::new(name, "+ a line\n").expect("it is small");
    let files = ["change.diff", "request.txt"].map(file);
    drop(
        rest.create_message_with_files(hall(), card, &files, &nonce, Reply::To(seventh))
            .await,
    );
    drop(rest.edit_message(hall(), seventh, card).await);
    drop(
        rest.edit_message(hall(), seventh, Content::text("over"))
            .await,
    );
    drop(rest.react(hall(), seventh, "\u{1f440}").await);
    drop(rest.typing(hall()).await);
    drop(rest.create_thread(hall(), &"n".repeat(200)).await);
    drop(rest.answer_press(press, &token, Press::Deferred).await);
    drop(
        rest.answer_press(press, &token, Press::Private("not yours"))
            .await,
    );
    drop(rest.follow_up(application, press, &token, "done").await);
}

#[tokio::test]
async fn every_request_fits_discords_own_description() {
    let api = Api::start(|_| Answer::ok(message(9, "x"))).await;
    let rest = client(&api);
    read_everything(&rest).await;
    change_everything(&rest).await;

    let description = description();
    let asked = api.asked();
    assert_eq!(asked.len(), 24);
    for asked in &asked {
        check(&description, asked);
    }
    every_text_says_whom_it_pings(&asked);
    let nameless = |asked: &&Asked| asked.header("authorization").is_none();
    let nameless: Vec<_> = asked
        .iter()
        .filter(nameless)
        .map(|a| a.path.as_str())
        .collect();
    assert_eq!(
        nameless.len(),
        3,
        "only answers to presses go without the token: {nameless:?}"
    );
    assert!(
        asked
            .iter()
            .all(|asked| !asked.path.contains("a-fake-token"))
    );
}

fn every_text_says_whom_it_pings(asked: &[Asked]) {
    for asked in asked.iter().filter(|asked| !asked.body.is_empty()) {
        let body = asked.json();
        let texts = [&body, &body["data"]];
        for text in texts.iter().filter(|text| text.get("content").is_some()) {
            let mentions = &text["allowed_mentions"];
            assert_eq!(
                mentions["parse"],
                json!([]),
                "{} {}",
                asked.method,
                asked.path
            );
        }
    }
}

#[tokio::test]
async fn a_thread_is_public_and_its_name_is_cut() {
    let thread = json!({ "id": "500", "type": 11, "parent_id": "400", "owner_id": "100" });
    let api = Api::start(move |_| Answer::Json(201, thread.clone(), Vec::new())).await;
    let made = client(&api)
        .create_thread(hall(), &"\u{1f600}".repeat(150))
        .await;
    let place = made.done().expect("it was made");
    assert_eq!((place.id.get(), place.parent), (500, Some(hall())));
    let body = api.asked()[0].json();
    assert_eq!(body["type"], json!(11));
    assert_eq!(body["name"].as_str().expect("a name").chars().count(), 100);
}
