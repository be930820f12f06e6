//! Application commands: registered, used, answered.

use serde_json::{Value, json};

use crate::harness::Hall;

fn greet() -> Value {
    json!({
        "name": "greet", "description": "Says hello", "type": 1,
        "options": [{ "type": 3, "name": "who", "description": "Whom", "required": true }],
    })
}

#[tokio::test]
async fn commands_are_registered_listed_changed_and_removed() {
    let hall = Hall::open().await;
    let places = [String::new(), format!("/guilds/{}", hall.sim.guild())];
    for place in places {
        let path = format!("/applications/{}{place}/commands", hall.sim.application());
        let made = hall.bot("POST", &path, Some(greet())).await;
        assert_eq!(made.status, 201, "{path}");
        assert_eq!(
            hall.bot("POST", &path, Some(greet())).await.status,
            200,
            "the same again"
        );
        let all = hall.bot("PUT", &path, Some(json!([greet()]))).await.json();
        assert_eq!(all.as_array().map(Vec::len), Some(1));
        assert_eq!(hall.get(&path).await.json(), all);
        let one = format!("{path}/{}", all[0]["id"].as_str().expect("an id"));
        let change = json!({ "description": "Says goodbye" });
        let changed = hall.bot("PATCH", &one, Some(change)).await.json();
        assert_eq!(
            (&changed["id"], &changed["description"]),
            (&all[0]["id"], &json!("Says goodbye"))
        );
        assert_eq!(hall.bot("DELETE", &one, None).await.status, 204);
        assert_eq!(hall.get(&one).await.refusal(), (404, 10063));
    }
    let path = format!("/applications/{}/commands", hall.sim.application());
    let wrong = hall.bot("POST", &path, Some(json!({ "name": "" }))).await;
    assert_eq!(wrong.refusal(), (400, 50035));
    let foreign = hall
        .bot("POST", "/applications/5/commands", Some(greet()))
        .await;
    assert_eq!(foreign.refusal(), (403, 50001));
}

#[tokio::test]
async fn a_used_command_is_answered_like_any_interaction() {
    let hall = Hall::open().await;
    let (mut gateway, _) = hall.login().await;
    let path = format!("/applications/{}/commands", hall.sim.application());
    hall.bot("POST", &path, Some(greet())).await;
    let wish = |name: &str, options: Value| json!({ "channel": "general", "user": "Ana", "name": name, "options": options });
    hall.control("POST", "/commands", wish("greet", json!({ "who": "Ben" })))
        .await;
    let interaction = gateway.event("INTERACTION_CREATE").await;
    assert_eq!(
        (&interaction["type"], &interaction["data"]["name"]),
        (&json!(2), &json!("greet"))
    );
    assert_eq!(interaction["data"]["options"][0]["value"], "Ben");
    assert!(interaction.get("message").is_none());
    let part = |key: &str| interaction[key].as_str().expect("a text").to_owned();
    let path = format!("/interactions/{}/{}/callback", part("id"), part("token"));
    let update = hall.bot("POST", &path, Some(json!({ "type": 7 }))).await;
    assert_eq!(
        update.refusal(),
        (400, 50035),
        "there is no message to update"
    );
    let body = json!({ "type": 4, "data": { "content": "Hello Ben" } });
    let path = format!("{path}?with_response=true");
    let answer = hall.bot("POST", &path, Some(body)).await.json();
    assert_eq!(answer["resource"]["message"]["type"], 20);
    let shown = gateway.event("MESSAGE_CREATE").await;
    assert_eq!(
        (&shown["content"], &shown["type"]),
        (&json!("Hello Ben"), &json!(20))
    );

    let unknown = hall
        .try_control("POST", "/commands", wish("nothing", json!({})))
        .await;
    assert_eq!(unknown.refusal(), (404, 10063));
    let option = hall
        .try_control("POST", "/commands", wish("greet", json!({ "x": 1 })))
        .await;
    assert_eq!(option.refusal(), (400, 50035));
}
