//! Discord's wire, and the only place that knows it.
//!
//! In: frames of the gateway, answers of REST, calls of the driver. Out: events in our words,
//! outcomes that say what may be done next. Never: a decision on what a message is worth, a post
//! that may go out twice, a token beyond Discord and loopback, a word of a message in a log.

mod attachment;
pub mod check; // what an operator asks before the first run
pub mod gateway; // the session: what happens on Discord, in order
mod interaction;
mod place;
pub mod rest; // calls, one exchange each
mod said;

mod address;
mod http;
mod net;
mod secret;
mod wire;

pub use address::{ApiBase, BadOrigin};
pub use attachment::{TEXT_ATTACHMENT_MAX_BYTES, TextFault};
pub use interaction::{CardPress, InteractionId, PressIgnored, Pressed};
pub use net::DialFault;
pub use place::{
    GuildSeen, MemberSeen, OverwriteTarget, PermissionOverwrite, Place, PlaceKind, RoleSeen,
    ThreadState,
};
pub use rest::Rest;
pub use said::Heard;
pub use secret::{BadToken, InteractionToken, TOKEN_MAX_BYTES, Token};
