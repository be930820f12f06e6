//! Carrying out: one command of the connector, one effect.
//!
//! In: commands, in the order the connector gave them. Out: tasks whose ends come back as inputs.
//! Never: a wait; whatever takes time has a task of its own.

use super::{
    cards,
    driver::{Driver, Running},
    receipts, runs,
    time::{self, Pace},
    writer::{Job, SpoolJob},
};
use guildhall_binding::ids::{ChannelId, MessageId};
use guildhall_connector::{
    durable::{Delivery, DeliveryState},
    ids::{Nonce, RowId},
    input::{Input, Learned, Receipt},
    record::Record,
    step::{CardEdit, Command, LookUp, Post, Tell},
};
use guildhall_discord::gateway::{Clock, EventStream, GatewayConfig, Handle, Now};
use guildhall_journal::failpoint;
use tokio::sync::mpsc::UnboundedSender;

impl Driver {
    pub(super) fn carry_out(&mut self, running: &mut Running, command: Command) {
        self.keep.touch(self.clocks.mono());
        match command {
            Command::Post(post) => self.post(running, post),
            Command::React {
                row,
                channel,
                message,
            } => self.react(running, row, channel, message),
            Command::Type(channel) => {
                let rest = self.rest.clone();
                tokio::spawn(async move {
                    let outcome = rest.typing(channel).await;
                    tracing::trace!(%channel, ?outcome, "typing");
                });
            }
            Command::LookUp(look_up) => self.look_up(running, look_up),
            Command::Start(start) => self.start_run(running, start),
            Command::Abort(row) => Self::abort_run(running, row),
            Command::Drop(line) => {
                tracing::debug!(message = %line.message, why = line.why.code(), "dropped");
                self.job(Job::Drop(self.clocks.wall(), Record::Drops(line)));
            }
            Command::Forget(row) => {
                if self
                    .spool_jobs
                    .send(SpoolJob::Forget(row.to_string()))
                    .is_err()
                {
                    tracing::error!("the spool's thread has ended");
                }
            }
            Command::Connect => running.gateway = Some(self.connect()),
            Command::Exit(exit) => running.exit = Some(exit),
            Command::Tell(tell) => self.tell(tell),
            Command::Decide(decision) => self.waiting.decided(decision),
            Command::Begin { turn, call } => self.waiting.begun(turn, call),
            Command::EditCard(edit) => self.edit_card(running, edit),
            Command::AnswerPress(answer) => {
                let rest = self.rest.clone();
                tokio::spawn(async move { cards::answer(&rest, answer).await });
            }
        }
    }

    fn react(&self, running: &Running, row: RowId, channel: ChannelId, message: MessageId) {
        let (rest, inputs) = (self.rest.clone(), running.inputs.clone());
        tokio::spawn(async move {
            failpoint("discord.before-eyes");
            let receipt = receipts::eyes(&rest, channel, message).await;
            failpoint("discord.after-eyes");
            send(&inputs, Input::Eyes(row, receipt));
        });
    }

    fn edit_card(&self, running: &Running, edit: CardEdit) {
        let (rest, inputs) = (self.rest.clone(), running.inputs.clone());
        tokio::spawn(async move {
            failpoint("discord.before-edit");
            let receipt = cards::edit(&rest, &edit).await;
            failpoint("discord.after-edit");
            tracing::debug!(ask = %edit.ask, ?receipt, "card closed");
            send(&inputs, Input::CardEdited(edit.ask, receipt));
        });
    }

    fn post(&self, running: &Running, post: Post) {
        let (rest, inputs) = (self.rest.clone(), running.inputs.clone());
        let doubtful = |(nonce, delivery): (Nonce, &Delivery)| {
            nonce == post.nonce && delivery.state == DeliveryState::Unknown
        };
        let may_stand = self.connector.durable().open_deliveries().any(doubtful);
        tracing::debug!(nonce = %post.nonce, channel = %post.channel, "post");
        tokio::spawn(async move {
            if may_stand && time::pace(&rest).await != Pace::Even {
                // The age that spoke for a repeat was not what it seemed: the connector decides anew.
                return send(
                    &inputs,
                    Input::Sent(post.nonce, Receipt::NotSent { wait_ms: 0 }),
                );
            }
            failpoint("discord.before-post");
            let receipt = cards::post(&rest, &post).await;
            failpoint("discord.after-post");
            tracing::debug!(nonce = %post.nonce, ?receipt, "posted");
            send(&inputs, Input::Sent(post.nonce, receipt));
        });
    }

    fn look_up(&self, running: &Running, look_up: LookUp) {
        let (rest, inputs) = (self.rest.clone(), running.inputs.clone());
        let (guild, bot) = (self.policy.guild.id, self.policy.bot);
        let host = self.host.clone();
        tracing::debug!("look-up");
        tokio::spawn(async move {
            failpoint("discord.before-look-up");
            let learned = match look_up {
                LookUp::Whereabouts(channel) => {
                    let found = receipts::whereabouts(&rest, guild, channel).await;
                    Learned::Whereabouts(channel, found)
                }
                LookUp::Text {
                    row,
                    channel,
                    message,
                } => Learned::Text(row, receipts::text(&rest, guild, channel, message).await),
                LookUp::Paste { row, url } => {
                    Learned::Paste(row, receipts::paste(&rest, &url).await)
                }
                LookUp::History { channel, after } => Learned::History(
                    channel,
                    receipts::history(&rest, guild, channel, after).await,
                ),
                LookUp::File {
                    turn,
                    call,
                    root,
                    path,
                    after,
                } => {
                    let file = runs::Sought { root, path, after };
                    runs::file_seen(host, turn, call, file).await
                }
                LookUp::ReadBack {
                    nonce,
                    channel,
                    after,
                    since_ms,
                } => {
                    let sought = receipts::Sought {
                        guild,
                        bot,
                        channel,
                        after,
                        since_ms,
                    };
                    Learned::ReadBack(nonce, receipts::read_back(&rest, sought).await)
                }
            };
            failpoint("discord.after-look-up");
            send(&inputs, Input::Learned(learned));
        });
    }

    fn connect(&self) -> (Handle, EventStream) {
        failpoint("discord.before-connect");
        let clocks = self.clocks.clone();
        let clock = Clock::new(move || Now {
            mono_ms: clocks.mono().0,
            wall_ms: u64::try_from(clocks.wall().0).unwrap_or(0),
        });
        let config = GatewayConfig {
            bot: self.policy.bot,
            intents: self.intents,
            state: self.session.clone(),
            clock,
            seed: fastrand::u64(..),
        };
        guildhall_discord::gateway::connect(&self.rest, config)
    }

    fn tell(&mut self, tell: Tell) {
        match tell {
            Tell::DeliveryRefused(nonce, code) => {
                self.keep.error(format!(
                    "Discord refused a post, code {}",
                    code.unwrap_or(0)
                ));
                tracing::warn!(%nonce, code, "Discord refused a post");
            }
            Tell::Twin(message) => {
                self.keep
                    .error("another process uses this bot's token".to_owned());
                tracing::error!(%message, "another process uses this bot's token");
            }
            Tell::RoutePaused(route) => {
                self.keep.error(format!("route {route} is paused"));
                tracing::error!(%route, "route paused: a row is of a kind that this version does not serve");
            }
            Tell::WrongReceipt(nonce) => {
                tracing::error!(%nonce, "Discord answered with a message of another channel")
            }
            Tell::NotCaughtUp(channel) => {
                tracing::info!(%channel, "there is no history to catch up from here")
            }
            Tell::CatchUpCut(channel) => {
                tracing::warn!(%channel, "more was said meanwhile than is read back")
            }
            Tell::Stuck(nonce) => {
                self.keep.error(format!("delivery {nonce} needs a person"));
                tracing::error!(%nonce, "a delivery cannot be settled without a person");
            }
        }
    }
}

/// Gives an input to the driver; after the end nobody takes it.
pub(super) fn send(inputs: &UnboundedSender<Input>, input: Input) {
    if inputs.send(input).is_err() {
        tracing::debug!("an input came after the end");
    }
}
