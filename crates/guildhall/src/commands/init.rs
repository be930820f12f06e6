//! `guildhall init`: writes a binding by asking.
//!
//! In: answers of a person, or flags; what Discord says about the bot. Out: a private binding, and
//! the findings of `check`. Never: a binding that is overwritten, a token in an argument or in the
//! binding, a file that is written before everything in it was found valid.

mod ask; // questions
mod discord; // what Discord says

use super::{Output, check, print};
use crate::{
    cli::{InitArgs, RunArgs},
    exit::{ExitReason, Failure},
    home::{Home, private_failure},
};
use ask::Asker;
use discord::{Bot, Channel, read};
use guildhall_binding::{
    BindingName, Expect, FILE_MAX_BYTES, file,
    ids::{ChannelId, GuildId, UserId},
};
use guildhall_discord::{ApiBase, Token};
use guildhall_journal::{ensure_private_folder, read_private, replace};
use serde_json::json;
use std::path::{Path, PathBuf};

/// What the bot is invited with, and why.
const PERMISSIONS: [(&str, &str); 5] = [
    ("View Channel", "to see the channels at all"),
    ("Send Messages", "to answer"),
    ("Send Messages in Threads", "to answer in threads"),
    (
        "Read Message History",
        "to reply to a message, and to catch up after a restart",
    ),
    ("Add Reactions", "to show that a message was read"),
];

pub(super) fn run(home: &Home, args: &InitArgs, output: Output) -> Result<(), Failure> {
    let asker = Asker::new(args.yes);
    let name = asker.ask(
        "Name of the binding",
        Some(args.binding.as_deref().unwrap_or("workshop")),
        "BINDING",
        |text| match BindingName::parse(text) {
            Ok(_) => Ok(text.to_owned()),
            Err(error) => Err(error.to_string()),
        },
    )?;
    let path = home.binding_file(&name);
    if path.symlink_metadata().is_ok() {
        return Err(
            Failure::invalid(format!("{} is there already", path.display())).hint(format!(
                "edit it, and look at it with `guildhall check {name}`"
            )),
        );
    }
    let private = |error| private_failure(ExitReason::Failed, "cannot use the data root", &error);
    ensure_private_folder(home.root()).map_err(private)?;
    let folder = path.parent().unwrap_or(home.root()).to_owned();
    ensure_private_folder(&folder).map_err(private)?;
    let token_file = token_file(asker, args, &folder, &name)?;
    let base = ApiBase::of(args.api_url.as_deref())
        .map_err(|error| Failure::invalid(format!("--api-url: {error}")))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("cannot start the runtime: {error}")))?;
    let binding = runtime.block_on(answers(asker, args, &name, &token_file, &base))?;
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    write(home, &name, &path, &binding)?;
    match output {
        Output::Text => print(format!("wrote {}", path.display())),
        Output::Json => print(json!({"wrote": path, "binding": name})),
    }
    check::run(home, &checked(&name), output)?;
    if output == Output::Text {
        print(format!("start it:  guildhall run {name}"));
    }
    Ok(())
}

fn checked(name: &str) -> RunArgs {
    RunArgs {
        binding: name.to_owned(),
        repo: None,
        supervised: false,
        end_with_parent: false,
        practice_delay: 0,
        web_stand_in: None,
    }
}

/// The token file: one that is there, or a new private one with what is typed.
fn token_file(
    asker: Asker,
    args: &InitArgs,
    folder: &Path,
    name: &str,
) -> Result<PathBuf, Failure> {
    let path = match &args.token_file {
        Some(path) => std::path::absolute(path)
            .map_err(|error| Failure::invalid(format!("--token-file: {error}")))?,
        None => folder.join(format!("{name}.token")),
    };
    if path.symlink_metadata().is_ok() {
        return Ok(path);
    }
    asker
        .tell("The bot's token: in the developer portal, on the page of the bot, \"Reset Token\".");
    let text = asker.secret("Token", "--token-file PATH, a file that holds it")?;
    let token =
        Token::parse(&text).map_err(|error| Failure::invalid(format!("the token: {error}")))?;
    drop(token);
    replace(&path, format!("{}\n", text.trim()).as_bytes())
        .map_err(|error| private_failure(ExitReason::Failed, "cannot keep the token", &error))?;
    asker.tell(&format!("  kept in {}, for your eyes only", path.display()));
    Ok(path)
}

/// Asks everything that Discord's answers are needed for.
async fn answers(
    asker: Asker,
    args: &InitArgs,
    name: &str,
    token_file: &Path,
    base: &ApiBase,
) -> Result<file::Binding, Failure> {
    let bot = Bot::meet(base, token_file).await?;
    asker.tell(&format!("This is the bot {} ({}).", bot.me.name, bot.me.id));
    asker.tell("It is invited with these permissions and no others:");
    for (permission, why) in PERMISSIONS {
        asker.tell(&format!("  {permission:<26} {why}"));
    }
    let (guild, guild_name) = guild(asker, args, &bot).await?;
    let listed = bot.channels(guild).await?;
    let channels = channels(asker, args, &bot, &listed)?;
    let users = users(asker, args, &bot, guild).await?;
    let seat = args.seat.as_deref().or(Some(bot.me.name.as_str()));
    let seat = asker.ask("Name of the seat", seat, "--seat", some_text)?;
    let token_file = token_file
        .to_str()
        .ok_or_else(|| Failure::invalid("the token file's path is not UTF-8"))?;
    Ok(file::Binding {
        schema: None,
        binding_version: 1,
        name: name.to_owned(),
        seat,
        guild_id: guild,
        guild_name,
        bot_user_id: bot.me.id,
        token_file: token_file.to_owned(),
        channels,
        users,
        engine: engine(asker, args)?,
        limits: None,
        context: None,
        sessions: None,
        tools: None,
        platform_toolsets: None,
        discord: args.api_url.as_ref().map(|url| file::Discord {
            api_url: Some(url.clone()),
            ..file::Discord::default()
        }),
        approvals: None,
        plugins: None,
        mesh: None,
        schedules: None,
    })
}

fn some_text(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        Err("say something".to_owned())
    } else {
        Ok(text.trim().to_owned())
    }
}

/// The server: the one that is named, the only one, or one of a list.
async fn guild(asker: Asker, args: &InitArgs, bot: &Bot) -> Result<(GuildId, String), Failure> {
    if let Some(id) = &args.guild {
        let id: GuildId = id
            .parse()
            .map_err(|_| Failure::new(ExitReason::Usage, "--guild: that is no server's id"))?;
        let seen = read("the server", bot.rest.guild(id).await)
            .map_err(|failure| failure.hint(format!("invite the bot: {}", bot.invite(Some(id)))))?;
        return Ok((id, seen.name));
    }
    let mut guilds = bot.guilds().await?;
    if guilds.is_empty() {
        asker.tell("The bot is in no server yet. Open this, and choose yours:");
        asker.tell(&format!("  {}", bot.invite(None)));
        if asker == Asker::Person {
            asker.ask(
                "Press Enter when it is in",
                Some("go on"),
                "--guild",
                some_text,
            )?;
            guilds = bot.guilds().await?;
        }
    }
    for (number, (id, name)) in guilds.iter().enumerate() {
        asker.tell(&format!("  {}  {name} ({id})", number + 1));
    }
    let only = (guilds.len() == 1).then_some("1");
    if guilds.is_empty() {
        return Err(Failure::invalid("the bot is in no server")
            .hint(format!("invite the bot: {}", bot.invite(None))));
    }
    asker.ask("Which server", only, "--guild", |text| {
        let chosen = text
            .parse::<usize>()
            .ok()
            .and_then(|n| guilds.get(n.wrapping_sub(1)));
        chosen
            .cloned()
            .ok_or_else(|| "a number of the list".to_owned())
    })
}

/// The channels, as `1`, `2:open`, an id or a name, with a mode or without.
fn channels(
    asker: Asker,
    args: &InitArgs,
    bot: &Bot,
    listed: &[Channel],
) -> Result<Vec<file::Channel>, Failure> {
    for (number, channel) in listed.iter().enumerate() {
        let lacks = if channel.lacks.is_empty() {
            String::new()
        } else {
            format!("   the bot lacks: {}", channel.lacks.join(", "))
        };
        asker.tell(&format!("  {}  #{}{lacks}", number + 1, channel.place.name));
    }
    asker.tell("Mode mention answers when the bot is mentioned, mode open every message of a listed person.");
    if !bot.hears_everything() {
        asker.tell("Mode open needs the message-content intent, which this bot does not have: the developer portal grants it.");
    }
    let flags = (!args.channel.is_empty()).then(|| args.channel.join(" "));
    asker.ask(
        "Which channels, such as 1 2:open",
        flags.as_deref(),
        "--channel ID[:open]",
        |text| {
            let chosen: Result<Vec<_>, _> = text
                .split_whitespace()
                .map(|word| channel(word, listed))
                .collect();
            chosen.and_then(|list| {
                if list.is_empty() {
                    Err("one at least".into())
                } else {
                    Ok(list)
                }
            })
        },
    )
}

fn channel(word: &str, listed: &[Channel]) -> Result<file::Channel, String> {
    let (which, mode) = match word.split_once(':') {
        Some((which, "open")) => (which, file::ChannelMode::Open),
        Some((which, "mention")) => (which, file::ChannelMode::Mention),
        Some((_, other)) => return Err(format!("{other} is no mode: mention or open")),
        None => (word, file::ChannelMode::Mention),
    };
    let by_number = which
        .parse::<usize>()
        .ok()
        .and_then(|n| listed.get(n.wrapping_sub(1)));
    let by_name = || {
        let id = which.parse::<ChannelId>().ok();
        listed.iter().find(|channel| {
            Some(channel.place.id) == id || channel.place.name == which.trim_start_matches('#')
        })
    };
    let found = by_number
        .or_else(by_name)
        .ok_or_else(|| format!("{which} is not on the list"))?;
    Ok(file::Channel {
        id: found.place.id,
        name: found.place.name.clone(),
        mode,
    })
}

/// The people, as `id:name` or `id:name:operator`.
async fn users(
    asker: Asker,
    args: &InitArgs,
    bot: &Bot,
    guild: GuildId,
) -> Result<Vec<file::User>, Failure> {
    asker.tell("Only listed people get an answer. Your id: in Discord's settings switch on developer mode, then right-click your name, \"Copy User ID\".");
    asker.tell("An operator may also allow what needs a person's permission.");
    let flags = (!args.user.is_empty()).then(|| args.user.join(" "));
    let users = asker.ask(
        "Who is listed, such as 1203491293471234567:Ana:operator",
        flags.as_deref(),
        "--user ID:NAME[:operator]",
        |text| {
            let users: Result<Vec<_>, _> = text.split_whitespace().map(user).collect();
            users.and_then(|list| {
                if list.is_empty() {
                    Err("one at least".into())
                } else {
                    Ok(list)
                }
            })
        },
    )?;
    for user in &users {
        read(
            &format!("the member {} ({})", user.name, user.id),
            bot.rest.member(guild, user.id).await,
        )
        .map_err(|failure| failure.hint("is that id right, and are they in the server?"))?;
    }
    Ok(users)
}

fn user(word: &str) -> Result<file::User, String> {
    let mut parts = word.split(':');
    let id = parts.next().unwrap_or_default();
    let id: UserId = id.parse().map_err(|_| format!("{id} is no user's id"))?;
    let name = parts.next().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| format!("{id} needs a name, such as {id}:Ana"))?;
    let operator = match (parts.next(), parts.next()) {
        (None, _) => None,
        (Some("operator"), None) => Some(true),
        (Some(other), _) => return Err(format!("{other}: only operator may stand there")),
    };
    Ok(file::User {
        id,
        name: name.to_owned(),
        channels: None,
        operator,
    })
}

fn engine(asker: Asker, args: &InitArgs) -> Result<file::Engine, Failure> {
    asker.tell("practice is no model: it answers a few words, to try everything out. native calls a provider.");
    let kind = asker.ask(
        "Engine",
        Some(args.engine.as_deref().unwrap_or("practice")),
        "--engine",
        |text| match text {
            "practice" => Ok(file::EngineKind::Practice),
            "native" => Ok(file::EngineKind::Native),
            "pi" => Ok(file::EngineKind::Pi),
            "acp" => Ok(file::EngineKind::Acp),
            other => Err(format!("{other} is no engine: practice, native, pi or acp")),
        },
    )?;
    let mut engine = file::Engine {
        kind,
        provider: args.provider.clone(),
        model: args.model.clone(),
        thinking: None,
        base_url: args.base_url.clone(),
        key_file: args
            .key_file
            .as_ref()
            .map(|path| path.to_string_lossy().into_owned()),
        key_env: args.key_env.clone(),
        command: (!args.command.is_empty()).then(|| args.command.clone()),
        idle_seconds: None,
        price: None,
    };
    if matches!(kind, file::EngineKind::Native) {
        if engine.provider.is_none() && engine.base_url.is_none() {
            let provider = asker.ask(
                "Provider, such as openai, anthropic or ollama",
                None,
                "--provider",
                some_text,
            )?;
            engine.provider = Some(provider);
        }
        if engine.model.is_none() {
            engine.model = Some(asker.ask("Model", None, "--model", some_text)?);
        }
    }
    Ok(engine)
}

/// Reads what would be written as `run` reads it, then writes it.
fn write(home: &Home, name: &str, path: &Path, binding: &file::Binding) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(binding).map_err(Failure::failed)?;
    text.push('\n');
    let user_home = std::env::home_dir();
    let expect = Expect {
        name: Some(name),
        data_root: home.root(),
        home: user_home.as_deref(),
    };
    guildhall_binding::read(text.as_bytes(), expect).map_err(|faults| {
        Failure::invalid(format!("these answers make no valid binding\n{faults}"))
    })?;
    replace(path, text.as_bytes())
        .map_err(|error| private_failure(ExitReason::Failed, "cannot write the binding", &error))?;
    // What was written is read once more, as every other command will read it.
    let read = read_private(path, FILE_MAX_BYTES as u64);
    read.map(drop).map_err(|error| {
        private_failure(ExitReason::Failed, "cannot read the binding back", &error)
    })
}
