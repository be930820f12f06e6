//! Tools over the web.
//!
//! In: a URL or a query. Out: a page or hits, as text. Never: a URL or a query that carries the shape
//! of a credential out; a search instance that the model chose; more text than a model may be given.

use crate::{
    arguments::Arguments,
    call::Call,
    effect::{TAG, ask_server, permitted},
    refusal::CallRefusal,
    turn::{Given, GivenKind, Turn, about},
};
use guildhall_authority::{
    ask::Shown,
    offer::ToolName,
    permit::{Effect, EffectDigest, Permit, Subject},
};
use guildhall_confine::credential_in;
use guildhall_web::{Fence, FetchLimits, Heard, Page, SearchAnswer};
use std::sync::Arc;

mod hits; // an answer to a search as text

/// Looks at the web.
struct WebEffect {
    tool: ToolName,
    fence: Fence,
    /// The search instance; a page has none.
    base: Option<String>,
    /// A URL or a query.
    target: String,
}

impl Effect for WebEffect {
    fn tool(&self) -> ToolName {
        self.tool
    }

    fn subject(&self) -> Subject<'_> {
        Subject::Web
    }

    fn digest(&self) -> EffectDigest {
        let base = self.base.as_deref().unwrap_or_default();
        let fields = [b"web".as_slice(), base.as_bytes(), self.target.as_bytes()];
        EffectDigest::of(TAG, &fields)
    }
}

impl WebEffect {
    fn new(turn: &Turn, call: &Call, target: &str) -> Result<Self, CallRefusal> {
        about(turn, call, None, target);
        if let Some(family) = credential_in(target.as_bytes()) {
            return Err(CallRefusal::SecretShape(family));
        }
        let tools = turn.scope.policy().tools.as_ref();
        let web = tools.and_then(|tools| tools.web.as_ref());
        let (Some(web), Some(fence)) = (web, &turn.host.web) else {
            return Err(CallRefusal::NotOffered);
        };
        Ok(Self {
            tool: call.tool,
            fence: fence.clone(),
            base: web
                .searxng
                .clone()
                .filter(|_| call.tool == ToolName::WebSearch),
            target: target.to_owned(),
        })
    }
}

/// Fetches a page.
pub(crate) async fn fetch(
    turn: &Arc<Turn>,
    call: &Call,
    arguments: &Arguments,
) -> Result<Given, CallRefusal> {
    let url = arguments.text("url");
    let effect = WebEffect::new(turn, call, url)?;
    let permit = permitted(turn, call, effect, card).await?;
    let tools = turn.scope.policy().tools.as_ref();
    let bytes = tools
        .and_then(|tools| tools.web.as_ref())
        .map_or(0, |web| web.max_fetch_bytes);
    let limits = FetchLimits {
        max_bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
        ..FetchLimits::default()
    };
    let heard = Heard::default();
    let got = ask_server(call, permit, |permit| get(permit, limits, &heard)).await;
    // What came is recorded whether it is given or not.
    if let Some(status) = heard.status() {
        turn.record().had_status(call.number, status);
    }
    turn.record().had_bytes(call.number, heard.bytes());
    let page = got?;
    turn.record().was_shown(&page.final_url);
    Ok(seen(page.told()))
}

/// Searches the web.
pub(crate) async fn search(
    turn: &Arc<Turn>,
    call: &Call,
    arguments: &Arguments,
) -> Result<Given, CallRefusal> {
    let query = arguments.text("query");
    let effect = WebEffect::new(turn, call, query)?;
    let permit = permitted(turn, call, effect, card).await?;
    let answer = ask_server(call, permit, ask).await?;
    let told = hits::told(&answer);
    turn.record().was_shown(&format!("web search: {query}"));
    turn.record().had_hits(call.number, told.hits);
    turn.record().had_bytes(call.number, told.text.len());
    Ok(seen(told.text))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the permit for this very page is spent here"
)]
async fn get(
    permit: Permit<WebEffect>,
    limits: FetchLimits,
    heard: &Heard,
) -> Result<Page, CallRefusal> {
    let WebEffect { fence, target, .. } = permit.spend()?;
    let fetched = fence.fetch_telling(&target, limits, heard).await;
    fetched.map_err(CallRefusal::Web)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the permit for this very query is spent here"
)]
async fn ask(permit: Permit<WebEffect>) -> Result<SearchAnswer, CallRefusal> {
    let effect = permit.spend()?;
    let base = effect.base.as_deref().ok_or(CallRefusal::NotOffered)?;
    let found = effect.fence.search(base, &effect.target).await;
    found.map_err(CallRefusal::Web)
}

fn card(effect: &WebEffect) -> Shown {
    let verb = if effect.base.is_some() {
        "Search the web for"
    } else {
        "Fetch"
    };
    Shown {
        what: format!("{verb} {}", crate::shown::line(&effect.target)),
        ..Shown::default()
    }
}

fn seen(text: String) -> Given {
    Given {
        text,
        kind: GivenKind::Seen,
    }
}
