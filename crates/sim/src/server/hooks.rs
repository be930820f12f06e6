//! What a host program can put behind the page.
//!
//! In: questions and presses from the page. Out: whatever the host says.
//! Never: anything without a hook; the page then shows neither panel nor buttons.

use std::future::Future;
use std::pin::Pin;

use serde::Serialize;
use serde_json::Value;

/// Where the page's panel gets its content.
pub trait PanelSource: Send + Sync + 'static {
    /// The panel now, or nothing when there is none.
    ///
    /// The page understands `{title, state, lines: [{label, value, tone?}], sections: [{title,
    /// rows: [[..]]}]}`, and shows any other object as keys and values. It must not block.
    fn panel(&self) -> Option<Value>;
}

impl<F: Fn() -> Option<Value> + Send + Sync + 'static> PanelSource for F {
    fn panel(&self) -> Option<Value> {
        self()
    }
}

/// No panel.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPanel;

impl PanelSource for NoPanel {
    fn panel(&self) -> Option<Value> {
        None
    }
}

/// One button of the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DemoAction {
    /// The last part of its path: `POST <control>/actions/NAME`.
    pub name: String,
    /// What the button says.
    pub label: String,
    /// One sentence about what will happen.
    pub hint: String,
}

/// What an action gives back: one sentence for the person, or why it failed.
pub type ActionFuture = Pin<Box<dyn Future<Output = Result<String, String>> + Send>>;

/// Buttons that do something outside the simulator, such as killing the bot.
pub trait DemoActions: Send + Sync + 'static {
    /// The buttons, in order.
    fn actions(&self) -> Vec<DemoAction>;

    /// Runs one of them; the name is one of [`DemoActions::actions`].
    fn run(&self, name: &str) -> ActionFuture;
}

/// No buttons.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoActions;

impl DemoActions for NoActions {
    fn actions(&self) -> Vec<DemoAction> {
        Vec::new()
    }

    fn run(&self, _name: &str) -> ActionFuture {
        Box::pin(std::future::ready(
            Err("there is no such action".to_owned()),
        ))
    }
}
