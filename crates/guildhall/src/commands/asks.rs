//! `guildhall asks`: what waits for a person's permission, and a person's word on it.
//!
//! In: a running seat. Out: a list, one ask whole, or a decision about it. Never: a decision while no
//! seat runs (nothing waits then), a control character of a model's text on the terminal.

use super::{
    Output, print,
    socket::{Answer, accepted, ask, silent},
    terminal::{on_a_line as text, visible},
};
use crate::{
    cli::AsksArgs,
    exit::{ExitReason, Failure},
    home::Home,
};
use guildhall_authority::ask::AskId;
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn run(home: &Home, args: &AsksArgs, output: Output) -> Result<(), Failure> {
    let decides = args.once || args.deny;
    let (name, id) = match (args.binding.as_deref(), args.ask.as_deref()) {
        (None, _) => return list(home, &home.names(), output),
        // A name may look like an ask; a binding that is there is meant.
        (Some(name), None) if home.checked_folder(name).is_ok() => {
            if decides {
                return Err(Failure::new(ExitReason::Usage, "say which ask"));
            }
            return list(home, &[name.to_owned()], output);
        }
        (Some(word), None) => match word.parse::<AskId>() {
            Ok(id) => (holder(home, id)?, id),
            Err(_) => return home.checked_folder(word).map(drop),
        },
        (Some(name), Some(id)) => {
            home.checked_folder(name)?;
            let id = id.parse();
            let id = id.map_err(|error| Failure::new(ExitReason::Usage, error))?;
            (name.to_owned(), id)
        }
    };
    let folder = home.folder(&name);
    if !decides {
        return show(&folder, &name, id, output);
    }
    let answer = if args.once { "once" } else { "deny" };
    let what = json!({"do": "decide", "ask": id, "answer": answer});
    let said = request(&folder, &name, &what)?.ok_or_else(nothing_runs)?;
    match output {
        Output::Text => print(format!("{id}: {}", said["how"].as_str().unwrap_or("done"))),
        Output::Json => print(json!({"ask": id, "how": said["how"]})),
    }
    Ok(())
}

/// The seat's answer; `None` where none runs.
fn request(folder: &Path, name: &str, what: &Value) -> Result<Option<Value>, Failure> {
    match ask(folder, what) {
        Answer::Said(said) => accepted(said).map(Some),
        Answer::Nobody => Ok(None),
        Answer::Silent(why) => Err(silent(&why, name)),
    }
}

fn nothing_runs() -> Failure {
    Failure::failed("nothing runs: what was asked is void once its process has ended")
}

fn open(home: &Home, name: &str) -> Result<Vec<Value>, Failure> {
    let said = request(&home.folder(name), name, &json!({"do": "asks"}))?;
    let asks = said.and_then(|said| said["asks"].as_array().cloned());
    Ok(asks.unwrap_or_default())
}

/// The binding whose seat has this ask open.
fn holder(home: &Home, id: AskId) -> Result<String, Failure> {
    let id = id.to_string();
    for name in home.names() {
        let asks = open(home, &name)?;
        if asks.iter().any(|ask| ask["ask"].as_str() == Some(&id)) {
            return Ok(name);
        }
    }
    Err(Failure::failed(format!("no seat has an open ask {id}"))
        .hint("`guildhall asks` lists what waits for a permission"))
}

fn list(home: &Home, names: &[String], output: Output) -> Result<(), Failure> {
    let mut count = 0_u32;
    for name in names {
        for mut ask in open(home, name)? {
            count += 1;
            ask["binding"] = json!(name);
            match output {
                Output::Json => print(ask),
                Output::Text if names.len() > 1 => print(format!("{name}  {}", summary(&ask))),
                Output::Text => print(summary(&ask)),
            }
        }
    }
    if count == 0 && output == Output::Text {
        print("nothing waits for a permission");
    }
    Ok(())
}

fn show(folder: &Path, name: &str, id: AskId, output: Output) -> Result<(), Failure> {
    let what = json!({"do": "ask", "ask": id});
    let said = request(folder, name, &what)?.ok_or_else(nothing_runs)?;
    let ask = &said["ask"];
    if output == Output::Json {
        print(ask);
        return Ok(());
    }
    print(summary(ask));
    for fact in ask["facts"].as_array().into_iter().flatten() {
        print(format!("  {}: {}", text(&fact[0]), text(&fact[1])));
    }
    for read in ask["read"].as_array().into_iter().flatten() {
        print(format!("  read so far: {}", text(read)));
    }
    print(format!("  digest: {}", text(&ask["digest"])));
    if let Some(content) = ask["content"].as_str() {
        print("");
        print(visible(content));
        let left_out = ask["bytesLeftOut"].as_u64().unwrap_or(0);
        if left_out > 0 {
            print(format!(
                "({left_out} bytes more; the card in Discord has all of it attached)"
            ));
        }
    }
    Ok(())
}

fn summary(ask: &Value) -> String {
    format!(
        "{}  {}  for {} in {}, until {}",
        text(&ask["ask"]),
        text(&ask["what"]),
        text(&ask["for"]),
        text(&ask["place"]),
        text(&ask["until"]),
    )
}
