//! The address that brings the bot into the server.

use super::permissions::PERMISSIONS_FOR_A_SEAT;
use guildhall_binding::ids::{ApplicationId, GuildId};

/// Where somebody who manages the server lets the bot in, with the permissions that a seat needs
/// and no others.
#[must_use]
pub fn invite_url(application: ApplicationId, guild: GuildId) -> String {
    format!(
        "https://discord.com/oauth2/authorize?client_id={application}&scope=bot&permissions=\
         {PERMISSIONS_FOR_A_SEAT}&guild_id={guild}&disable_guild_select=true"
    )
}
