//! The bot's application, and the gateway's address.

use serde_json::{Value, json};

use crate::model::App;
use crate::world::World;

/// Flags by which a client can read the portal's switches before it connects.
/// Source: Discord API docs, Application Flags.
mod flag {
    pub(super) const PRESENCE_LIMITED: u32 = 1 << 13;
    pub(super) const MEMBERS_LIMITED: u32 = 1 << 15;
    pub(super) const MESSAGE_CONTENT_LIMITED: u32 = 1 << 19;
}

/// `flags` of an application, as far as intents are concerned.
pub(crate) fn application_flags(app: &App) -> u32 {
    [
        (app.portal.presence, flag::PRESENCE_LIMITED),
        (app.portal.members, flag::MEMBERS_LIMITED),
        (app.portal.message_content, flag::MESSAGE_CONTENT_LIMITED),
    ]
    .into_iter()
    .filter(|(switch, _)| switch.is_on())
    .fold(0, |sum, (_, bit)| sum | bit)
}

impl World {
    /// `GET /applications/@me`.
    pub(crate) fn application_json(&self, app: &App) -> Value {
        let flags = application_flags(app);
        json!({
            "id": app.id,
            "name": app.name,
            "icon": null,
            "description": "A bot in a simulated server",
            "type": null,
            "bot": self.user_json(app.bot),
            "bot_public": false,
            "bot_require_code_grant": false,
            "verify_key": "0".repeat(64),
            "flags": flags,
            "flags_new": flags.to_string(),
            "redirect_uris": [],
            "interactions_endpoint_url": null,
            "role_connections_verification_url": null,
            "owner": self.user_json(self.guild.owner),
            "team": null,
            "approximate_guild_count": 1,
            "approximate_user_install_count": 0,
            "approximate_user_authorization_count": 0,
            "explicit_content_filter": 0,
            "eligible_oauth2_scopes": ["bot", "identify"],
        })
    }
}
