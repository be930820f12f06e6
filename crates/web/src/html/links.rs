//! Where links lead.
//!
//! In: the addresses in a page, and the page's own. Out: whole addresses to show behind a link's
//! text. Never: an address that is not http, https or mail, none for a place on the same page, and
//! none that could not be fetched for its length. How many are shown is bound by the text's room.

use url::Url;

use crate::target::URL_MAX_BYTES;

/// Texts of links that only mark a heading's own place.
const PLACE_MARKS: [&str; 7] = ["¶", "#", "§", "🔗", "", "Permalink", "Anchor"];

/// Resolves addresses of one page.
pub(super) struct Links {
    base: Url,
    page: Url,
}

/// Where one link leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// To another page.
    To(String),
    /// To a place on this page.
    Here,
    /// To nothing that is shown.
    Nowhere,
}

impl Links {
    pub(super) fn new(page: &Url) -> Self {
        let mut page = page.clone();
        page.set_fragment(None);
        Self {
            base: page.clone(),
            page,
        }
    }

    /// Takes the address that the page's addresses are relative to.
    pub(super) fn set_base(&mut self, href: &str) {
        if let Ok(base) = self.page.join(href)
            && matches!(base.scheme(), "http" | "https")
        {
            self.base = base;
        }
    }

    /// Where an address leads.
    pub(super) fn resolve(&self, href: &str) -> Leads {
        let href = href.trim();
        if href.starts_with('#') {
            return Leads::Here;
        }
        if href.is_empty() || href.len() > URL_MAX_BYTES {
            return Leads::Nowhere;
        }
        let Ok(mut target) = self.base.join(href) else {
            return Leads::Nowhere;
        };
        let fragment = target.fragment().map(str::to_owned);
        target.set_fragment(None);
        if target == self.page {
            return Leads::Here;
        }
        target.set_fragment(fragment.as_deref());
        let shown = matches!(target.scheme(), "http" | "https" | "mailto");
        if !shown || target.as_str().len() > URL_MAX_BYTES {
            return Leads::Nowhere;
        }
        Leads::To(target.into())
    }
}

/// Whether a link's text only marks a place.
pub(super) fn is_place_mark(text: &str) -> bool {
    PLACE_MARKS.contains(&text.trim())
}

/// Whether a text is the address that it leads to, so that it need not be said twice.
pub(super) fn says_itself(text: &str, target: &str) -> bool {
    let bare = |text: &str| -> String {
        let text = text.trim().trim_end_matches('/');
        let cut = ["https://", "http://", "mailto:"];
        let cut = cut.iter().find_map(|prefix| text.strip_prefix(prefix));
        cut.unwrap_or(text).to_owned()
    };
    bare(text) == bare(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_whole_and_only_of_pages_and_mail() {
        let page = Url::parse("https://example.com/a/b?c#d").expect("a URL");
        let mut links = Links::new(&page);
        let to = |text: &str| Leads::To(text.to_owned());
        let cases = [
            ("e", to("https://example.com/a/e")),
            (" /e#f ", to("https://example.com/e#f")),
            ("//www.example.com", to("https://www.example.com/")),
            ("http://x.org/", to("http://x.org/")),
            ("mailto:a@x.org", to("mailto:a@x.org")),
            ("#e", Leads::Here),
            ("?c#e", Leads::Here),
            ("", Leads::Nowhere),
            ("javascript:alert(1)", Leads::Nowhere),
            ("data:text/html,x", Leads::Nowhere),
            ("https://[", Leads::Nowhere),
        ];
        for (href, want) in cases {
            assert_eq!(links.resolve(href), want, "{href}");
        }
        links.set_base("https://cdn.example.com/x/");
        links.set_base("file:///etc/");
        assert_eq!(links.resolve("e"), to("https://cdn.example.com/x/e"));
    }

    #[test]
    fn an_address_is_shown_as_long_as_one_that_can_be_fetched() {
        let page = Url::parse("https://example.com/").expect("a URL");
        let links = Links::new(&page);
        let room = URL_MAX_BYTES - page.as_str().len();
        let fits = "x".repeat(room);
        let to = Leads::To(format!("{page}{fits}"));
        assert_eq!(links.resolve(&fits), to);
        assert_eq!(links.resolve(&format!("{fits}x")), Leads::Nowhere);
        // Percent-encoding makes it too long.
        assert_eq!(links.resolve(&"é".repeat(700)), Leads::Nowhere);
    }
}
