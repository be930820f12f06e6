//! Public web pages and searches, behind a fence.
//!
//! In: a URL or a query. Out: a page reduced to readable text, hits, or a named refusal. Never: a
//! connection to an address that is not public (the operator's own search instance aside), a proxy
//! from the environment, a cookie, a credential, or a request that changes anything.
//!
//! Start with [`Fence::fetch`]. A URL becomes a [`Target`] by its text alone; its name is looked up
//! once, every address is judged by [`is_public`], and the connection goes to one of those addresses.
//! A redirect begins all of that anew. Everything is bounded: the URL, the head, the body after
//! unpacking, the redirects, the text, and the time of the whole call.

mod address; // which addresses are public
mod body; // unpacked and bounded
mod dial;
mod exchange; // one GET over TLS
mod fence; // start here: a call from its URL to its page
mod html; // readable text of it
mod media; // its kind and its charset
mod page; // what a fetch gives
mod refusal;
mod resolve;
mod search; // a SearXNG instance
mod target; // a URL's text
mod unseen;

pub use address::{AddressClass, is_public};
pub use dial::{Dial, TcpDialer};
pub use exchange::{Heard, USER_AGENT};
pub use fence::{DEADLINE, Fence, FenceParts, FetchLimits, REDIRECTS_MAX};
pub use html::{Readable, readable};
pub use page::{Cut, Page, TEXT_MAX_CHARS, TITLE_MAX_CHARS};
pub use refusal::WebRefusal;
pub use resolve::{Boxed, NameKind, Resolve, SystemResolver};
pub use search::{
    HITS_MAX, Hit, QUERY_MAX_CHARS, SNIPPET_MAX_CHARS, SearchAnswer, UNRESPONSIVE_MAX,
    judge_search_base,
};
pub use target::{Target, URL_MAX_BYTES};
