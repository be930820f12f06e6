//! What a binding says and this program does not do.
//!
//! In: a policy. Out: a warning for each setting that has no effect here, for `check` and for the log
//! of `run`. Never: silence about a rule that an operator counts on.

use guildhall_binding::{ApprovalMode, EngineKind, Policy};

/// A setting without its effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unserved {
    /// The setting.
    pub(crate) setting: &'static str,
    /// What is so in its place.
    pub(crate) what: &'static str,
    /// What to do about it.
    pub(crate) hint: &'static str,
}

/// Every setting of a policy that has no effect.
pub(crate) fn unserved(policy: &Policy) -> Vec<Unserved> {
    let records = policy
        .tools
        .as_ref()
        .and_then(|tools| tools.setspark.as_ref());
    let found = [
        money(policy),
        approvals(policy.approvals.mode),
        records.map(|_| Unserved {
            setting: "tools.setspark",
            what: "this version has no record tools",
            hint: "take it away until it has",
        }),
    ];
    found.into_iter().flatten().collect()
}

/// A ceiling that is never reached, since nobody says what a run costs.
fn money(policy: &Policy) -> Option<Unserved> {
    policy.limits.micro_usd_per_day?;
    let engine = &policy.engine;
    let hint = match engine.kind {
        EngineKind::Native if engine.price.is_none() => {
            "give engine.price, so that cost is counted"
        }
        // It knows what its own providers take, and nothing of one that it is told of.
        EngineKind::Pi if engine.price.is_none() && engine.base_url.is_some() => {
            "give engine.price, so that cost is counted"
        }
        EngineKind::Practice => "take it away: the practice engine costs nothing",
        EngineKind::Native | EngineKind::Pi | EngineKind::Acp => return None,
    };
    Some(Unserved {
        setting: "limits.usdPerDay",
        what: "it is set, and no run of this engine has a known cost",
        hint,
    })
}

/// A mode that nothing here knows: the stricter one holds in its place.
fn approvals(mode: ApprovalMode) -> Option<Unserved> {
    let what = match mode {
        ApprovalMode::Manual => return None,
        ApprovalMode::Smart => {
            "this version has no reviewer: every ask goes to a person, as with manual"
        }
        ApprovalMode::Off => {
            "this version skips no ask: every ask goes to a person, as with manual"
        }
    };
    Some(Unserved {
        setting: "approvals.mode",
        what,
        hint: "set it to manual to say what is so",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(change: impl FnOnce(&mut Policy)) -> Vec<&'static str> {
        let bytes = include_bytes!("../../../examples/binding.minimal.json");
        let expect = guildhall_binding::Expect {
            name: None,
            data_root: std::path::Path::new("/data"),
            home: None,
        };
        let mut policy = guildhall_binding::read(bytes, expect).expect("the example is valid");
        change(&mut policy);
        unserved(&policy).iter().map(|it| it.setting).collect()
    }

    #[test]
    fn each_setting_without_an_effect_is_named() {
        assert_eq!(settings(|_| ()), [""; 0]);
        let money = |kind| {
            settings(|policy| {
                policy.limits.micro_usd_per_day = Some(1);
                policy.engine.kind = kind;
            })
        };
        assert_eq!(money(EngineKind::Native), ["limits.usdPerDay"]);
        assert_eq!(money(EngineKind::Practice), ["limits.usdPerDay"]);
        assert_eq!(money(EngineKind::Acp), [""; 0]);
        for mode in [ApprovalMode::Smart, ApprovalMode::Off] {
            assert_eq!(
                settings(|policy| policy.approvals.mode = mode),
                ["approvals.mode"]
            );
        }
    }
}
