//! Overwrites in every order that matters.

use super::*;
use crate::place::{PermissionOverwrite, RoleSeen, ThreadState};
use guildhall_binding::ids::{ChannelId, GuildId, RoleId};

const GUILD: u64 = 1;
const SEAT_ROLE: u64 = 2;
const OTHER_ROLE: u64 = 3;
const BOT: u64 = 10;

fn role(id: u64) -> RoleId {
    RoleId::from_number(id).expect("not zero")
}

fn bot() -> UserId {
    UserId::from_number(BOT).expect("not zero")
}

fn guild(everyone: u64, seat: u64) -> GuildSeen {
    let seen = |id, permissions| RoleSeen {
        id: role(id),
        name: String::new(),
        permissions,
        bot: None,
    };
    GuildSeen {
        id: GuildId::from_number(GUILD).expect("not zero"),
        name: "hall".into(),
        owner: None,
        roles: vec![
            seen(GUILD, everyone),
            seen(SEAT_ROLE, seat),
            seen(OTHER_ROLE, u64::MAX >> 8),
        ],
        channels: Vec::new(),
        threads: Vec::new(),
    }
}

fn channel(overwrites: &[(OverwriteTarget, u64, u64)]) -> Place {
    let overwrite = |&(target, allow, deny)| PermissionOverwrite {
        target,
        allow,
        deny,
    };
    Place {
        id: ChannelId::from_number(20).expect("not zero"),
        kind: PlaceKind::Text,
        guild: None,
        parent: None,
        owner: None,
        name: "talk".into(),
        state: ThreadState::Active,
        last_message: None,
        overwrites: overwrites.iter().map(overwrite).collect(),
    }
}

fn member() -> MemberSeen {
    MemberSeen {
        user: Some(bot()),
        roles: vec![role(SEAT_ROLE)],
        timed_out_until: None,
    }
}

#[test]
fn overwrites_count_in_discords_order() {
    use OverwriteTarget::{Member, Role};
    let view = Permission::ViewChannel.bit();
    let send = Permission::SendMessages.bit();
    let everyone = Role(role(GUILD));
    let seat = Role(role(SEAT_ROLE));
    let other = Role(role(OTHER_ROLE));
    let cases = [
        ("none", vec![], view | send),
        ("everyone is denied", vec![(everyone, 0, send)], view),
        (
            "a role gives it back",
            vec![(everyone, 0, send), (seat, send, 0)],
            view | send,
        ),
        (
            "order of the list is nothing",
            vec![(seat, send, 0), (everyone, 0, send)],
            view | send,
        ),
        ("a role denies", vec![(seat, 0, send)], view),
        (
            "a role's allow beats a role's deny",
            vec![(seat, send, send)],
            view | send,
        ),
        (
            "a member's own beats roles",
            vec![(seat, send, 0), (Member(bot()), 0, send)],
            view,
        ),
        (
            "another role is nothing",
            vec![(other, 0, send)],
            view | send,
        ),
        ("not seen is nothing at all", vec![(everyone, 0, view)], 0),
    ];
    for (name, overwrites, want) in cases {
        let guild = guild(view | send, 0);
        let got = effective(
            &guild,
            bot(),
            &member(),
            &channel(&overwrites),
            TimeOut::None,
        );
        assert_eq!(got, want, "{name}");
    }
}

#[test]
fn owners_and_administrators_may_everything_and_the_timed_out_only_read() {
    let all = PERMISSIONS_FOR_A_SEAT;
    let denied = channel(&[(OverwriteTarget::Member(bot()), 0, all)]);
    let admin = guild(0, Permission::Administrator.bit());
    assert_eq!(
        effective(&admin, bot(), &member(), &denied, TimeOut::None),
        u64::MAX
    );
    let mut owned = guild(0, 0);
    owned.owner = Some(bot());
    assert_eq!(
        effective(&owned, bot(), &member(), &denied, TimeOut::None),
        u64::MAX
    );
    let silenced = effective(
        &guild(0, all),
        bot(),
        &member(),
        &channel(&[]),
        TimeOut::Running,
    );
    assert_eq!(silenced, TIMED_OUT_KEEPS);
}

#[test]
fn each_missing_permission_is_named() {
    let needed = Needs::Talk.in_a(PlaceKind::Text);
    for permission in needed.iter().skip(1) {
        let bits = PERMISSIONS_FOR_A_SEAT & !permission.bit();
        assert_eq!(missing(bits, needed), [*permission]);
    }
    assert_eq!(missing(0, needed), [Permission::ViewChannel]);
    assert_eq!(missing(PERMISSIONS_FOR_A_SEAT, needed), []);
    let thread = Needs::Talk.in_a(PlaceKind::PublicThread);
    let bits = PERMISSIONS_FOR_A_SEAT & !Permission::SendMessages.bit();
    assert_eq!(
        missing(bits, thread),
        [],
        "posting in the channel is not posting in its threads"
    );
}

#[test]
fn the_invitation_asks_for_exactly_what_a_seat_needs() {
    assert_eq!(PERMISSIONS_FOR_A_SEAT, 274_877_975_616);
}
