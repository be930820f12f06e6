//! What elements become, and that no page costs more than its length.

use super::*;
use crate::unseen::is_unseen;
use proptest::prelude::*;

mod pages; // twenty whole ones

fn shown(source: &str) -> String {
    let page = Url::parse("https://example.com/docs/page").expect("a URL");
    read(source, &page, Kind::Html, 12_000).text
}

/// Holds what pages become against what they should.
fn check(cases: &[(&str, &str)]) {
    for (source, want) in cases {
        assert_eq!(shown(source), *want, "{source}");
    }
}

#[test]
fn blocks_stand_apart_and_blanks_are_single() {
    check(&[
        ("<p>a\n  b</p><p>c", "a b\n\nc"),
        ("a<div>b</div>c", "a\nb\nc"),
        ("a<br>b<br><br>c<br><br><br>d", "a\nb\n\nc\n\nd"),
        ("<h1>A <b>b</b></h1><h3>C</h3>d", "# A b\n\n### C\n\nd"),
        ("<h2>A<br>b</h2>", "## A b"),
        ("a<hr>b", "a\n\n---\n\nb"),
        ("<p> </p><div><p></p></div>a&nbsp; &nbsp;b", "a b"),
        (
            "<blockquote><p>a<p>b<blockquote>c</blockquote></blockquote>d",
            "> a\n\n> b\n\n> > c\n\nd",
        ),
        (
            "x<sup>2</sup> y <sup>a</sup> z<sup>[1]</sup>",
            "x^2 y a z[1]",
        ),
        (
            "<q>a</q> <em>b</em><strong>c</strong>",
            "\u{201c}a\u{201d} bc",
        ),
    ]);
}

#[test]
fn lists_have_marks_and_levels() {
    check(&[
        ("a<ul><li>b<li>c</ul>d", "a\n\n- b\n- c\n\nd"),
        ("<ol start=9><li>a<li>b</ol>", "9. a\n10. b"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c"),
        (
            "<ul><li><p>a</p><p>b</p></li><li><p>c</p></li></ul>",
            "- a\n  b\n- c",
        ),
        (
            "<ol><li>a<pre>b\n c</pre>d</ol>",
            "1. a\n\n   ```\n   b\n    c\n   ```\n\n   d",
        ),
        ("<dl><dt>a<dd>b<dd>c<dt>d</dl>e", "a\n  b\n  c\nd\n\ne"),
        ("<li>a<li>b", "- a\n- b"),
        (
            "<ul><li><input type=checkbox checked>a<li><input type=Checkbox>b</ul>",
            "- [x] a\n- [ ] b",
        ),
    ]);
}

#[test]
fn links_show_where_they_lead() {
    check(&[
        ("<a href=a>b</a>.", "b (https://example.com/docs/a)."),
        ("x <a href='/a'> b </a> c", "x b (https://example.com/a) c"),
        ("<a href=https://x.org/>x.org</a>", "x.org"),
        ("<a href=#a>b</a><a href=page#c>d</a>", "bd"),
        (
            "<h2>A <a href=#a>¶</a></h2><h2><a href=#b></a>B</h2>",
            "## A\n\n## B",
        ),
        ("<a href='javascript:x'>b</a><a href=c></a>", "b"),
        (
            "<a href=a>b <a href=c>d</a>",
            "b (https://example.com/docs/a) d (https://example.com/docs/c)",
        ),
        (
            "<a href=a><h3>b</h3><p>c</p></a>d",
            "### b\n\nc (https://example.com/docs/a)\n\nd",
        ),
        (
            "<base href=https://x.org/y/><a href=z>b</a>",
            "b (https://x.org/y/z)",
        ),
        (
            "<a href=a><img alt='b'></a><img><img alt=''><img alt='👍'>",
            "[image: b] (https://example.com/docs/a)👍",
        ),
    ]);
}

#[test]
fn every_link_that_has_room_keeps_its_target() {
    let long = "l".repeat(1_500);
    let many: String = (0..700).map(|n| format!("<a href=/{n}>a</a> ")).collect();
    let text = shown(&format!("<p><a href='/{long}'>a</a>"));
    assert_eq!(text, format!("a (https://example.com/{long})"));
    let page = Url::parse("https://example.com/").expect("a URL");
    let text = read(&many, &page, Kind::Html, 100_000).text;
    assert!(text.ends_with("a (https://example.com/699)"), "{text}");
}

#[test]
fn code_keeps_its_lines_and_no_targets() {
    check(&[
        (
            "<pre>\na\n  b <a href=x>c</a>&lt;\n\n</pre>",
            "```\na\n  b c<\n```",
        ),
        ("<pre><code>a<br>b</code></pre>", "```\na\nb\n```"),
        ("<pre>```\na\n```</pre>", "`````\n```\na\n```\n`````"),
        ("<pre>1\n2\n</pre>a", "a"),
        (
            "call <code>a <a href=x>b</a></code> or <a href=y><code>c</code></a>",
            "call `a b` or `c` (https://example.com/docs/y)",
        ),
        ("<code></code>a<code> b</code>", "a `b`"),
    ]);
}

#[test]
fn tables_are_rows_unless_they_only_arrange() {
    check(&[
        (
            "<table><caption>t</caption><tr><th>a<th>b<tr><td>c<td><p>d</p><p>e</p></table>f",
            "t\n| a | b |\n| --- | --- |\n| c | d e |\n\nf",
        ),
        ("<table><tr><td>a</table>", "a"),
        (
            "<table><tr><td>a<td>b<br>c<tr><td><td></table>",
            "| a | b c |",
        ),
        (
            "<table><tr><td>a<td>b<td><h2>c</h2><p>d<tr><td>e</table>",
            "a | b\n\n## c\n\nd\ne",
        ),
        (
            "<table><tr><td><table><tr><th>a<td>b</table><td>c</table>",
            "| a | b |\n\nc",
        ),
        ("<table role=presentation><tr><td>a<td>b</table>", "a\nb"),
    ]);
}

#[test]
fn what_its_author_hides_or_does_not_mean_as_text_is_left_out() {
    check(&[
        (
            "a<script>b<p></script><style>c</style><!-- d --><template>e</template>f",
            "af",
        ),
        (
            "<noscript>a<b></noscript><select><option>b</select><textarea>c</textarea>d",
            "d",
        ),
        ("<svg><title>a</title><text>b</text><style/></svg>c", "c"),
        (
            "<div hidden>a<div>b</div>c</div>d<span style='color:red; display : none'>e</span>",
            "d",
        ),
        ("<p hidden>a<b>x<p>b", "b"),
        ("<div><p hidden>a</div>b", "b"),
        ("<p style='display:none'>a</p>b", "b"),
        (
            "<ul><li hidden>a<ul><li>b</li></ul>c<li>d</ul>e",
            "- d\n\ne",
        ),
        ("<ul><li hidden>a</ul>b", "b"),
        ("<ol><li hidden>a<ol><li>b</ol></li><li>c</ol>", "1. c"),
        (
            "<table><tr><td>a<td hidden>b<table><tr><td>c</table>d<td>e<tr hidden><td>f<tr><td>g</table>",
            "| a | e |\ng",
        ),
        ("<dl><dt hidden>a<dd>b</dl>", "  b"),
        ("<body hidden>a</body>", "a"),
        (
            "<span style='font-size: 0 !important'>a</span><span style='font-size:0.9em'>b</span>",
            "b",
        ),
        ("<span class='x sr-only'>a</span>b", "b"),
        ("<del>9 EUR</del> 7 EUR", "~~9 EUR~~ 7 EUR"),
        ("<dialog>a</dialog><dialog open>b</dialog>", "b"),
        ("<button>a</button><h2><button>b</button></h2>", "## b"),
        ("<math alttext='x^2'><mi>x</mi></math>", "x^2"),
        ("a\u{202e}b\u{200b}&#8238;c&shy;d", "abcd"),
        ("<title>a</title><title>b</title>c", "bc"),
    ]);
}

#[test]
fn the_main_part_comes_first_and_menus_last() {
    let page = "<header>a</header><nav>b</nav><p>c</p><main><h1>d</h1><nav>e</nav>\
                <aside>f</aside></main><footer>g</footer>";
    assert_eq!(
        shown(page),
        "# d\n\nf\n\n[around the main text]\n\nc\n\na\n\nb\n\ne\n\ng"
    );
    check(&[
        (
            "<nav>a</nav><p>b</p><div role=navigation>c<div>d</div>e</div>f",
            "b\n\nf\n\na\n\nc\nd\ne",
        ),
        (
            "<div role=main>a<div>b</div></div>c",
            "a\nb\n\n[around the main text]\n\nc",
        ),
        ("<article>a</article><article>b</article>", "a\n\nb"),
        (
            "<ul><li><a href=a>a</a><li>b</ul><h1>c</h1><ul><li><a href=d>d</a></ul>",
            "- b\n\n# c\n\n- d (https://example.com/docs/d)\n\n- a (https://example.com/docs/a)",
        ),
        ("<div role=banner><article>a</article></div>b", "b\n\na"),
    ]);
}

#[test]
fn xhtml_tags_may_close_themselves() {
    let page = Url::parse("https://example.com/").expect("a URL");
    let source = "<title/><script src='x'/><div hidden='hidden'/><p>a</p>";
    let got = read(source, &page, Kind::Xhtml, 100);
    assert_eq!((got.text.as_str(), got.title), ("a", None));
    // In HTML they do not, and the title never ends.
    assert_eq!(read(source, &page, Kind::Html, 100).text, "");
}

#[test]
fn a_title_is_one_line_and_counts() {
    let page = Url::parse("https://example.com/").expect("a URL");
    let source = "<title>\n a &amp; <b>\tb</title><p>0123456789";
    let got = read(source, &page, Kind::Html, 12);
    assert_eq!(got.title.as_deref(), Some("a & <b> b"));
    assert_eq!((got.text.as_str(), got.whole), ("012", false));
}

#[test]
fn text_is_cut_at_the_room_in_whatever_it_stands() {
    let page = Url::parse("https://example.com/").expect("a URL");
    let long = "é ".repeat(500);
    for element in [
        "p",
        "pre",
        "h1",
        "li",
        "td",
        "div role=main",
        "code",
        "a href=x",
        "q",
    ] {
        let tag = element.split(' ').next().expect("a name");
        let source = format!("<table><{element}>{long}</{tag}><p>end");
        let got = read(&source, &page, Kind::Html, 300);
        assert!(!got.whole, "{element}");
        assert_eq!(got.text.chars().count(), 300, "{element}: {}", got.text);
        let got = read(&source, &page, Kind::Html, 12_000);
        assert!(
            got.whole && got.text.ends_with("end"),
            "{element}: {}",
            got.text
        );
    }
}

proptest! {
    #[test]
    fn whatever_stands_on_a_page_is_read_within_its_room(
        parts in prop::collection::vec(prop::sample::select(PARTS.to_vec()), 0..60),
        room in 0..200_usize,
    ) {
        let page = Url::parse("https://example.com/").expect("a URL");
        for kind in [Kind::Html, Kind::Xhtml] {
            let got = read(&parts.concat(), &page, kind, room);
            let title = got.title.map_or(0, |title| title.chars().count());
            prop_assert!(got.text.chars().count() <= room.saturating_sub(title));
            let unseen = |c: char| is_unseen(c) && c != '\n' && c != '\t';
            prop_assert!(!got.text.contains(unseen), "{}", got.text);
        }
    }
}

/// What a page can be made of.
const PARTS: [&str; 64] = [
    "a",
    "é ",
    " \n",
    "&amp;",
    "&#x202e;",
    "\u{200b}",
    "漢字",
    "<",
    ">",
    "</",
    "<!-- -->",
    "<!x>",
    "<p>",
    "</p>",
    "<div>",
    "</div>",
    "<div hidden>",
    "<span>",
    "</span>",
    "<br>",
    "<br/>",
    "<hr>",
    "<h1>",
    "</h1>",
    "<h4 class=code-header>",
    "</h4>",
    "<pre>",
    "</pre>",
    "<code>",
    "</code>",
    "<ul>",
    "</ul>",
    "<ol start=9>",
    "</ol>",
    "<li>",
    "<li value=7>",
    "<dl>",
    "<dt>",
    "<dd>",
    "<table>",
    "</table>",
    "<tr>",
    "<td>",
    "<th>",
    "</tr>",
    "<blockquote>",
    "</blockquote>",
    "<a href=x>",
    "<a href='#y'>",
    "</a>",
    "<main>",
    "</main>",
    "<nav>",
    "</nav>",
    "<title>",
    "</title>",
    "<script>",
    "</script>",
    "<svg>",
    "</svg>",
    "<sup>",
    "<q>",
    "<img alt='z z'>",
    "<textarea>",
];

/// Pages that are costly where a tree is built, each for a number of repeats.
fn costly(repeats: usize) -> [(&'static str, String); 16] {
    let times = |text: &str| text.repeat(repeats);
    [
        ("nested blocks", times("<div>")),
        ("nested lists", times("<ul><li>")),
        ("nested tables", times("<table><tr><td>")),
        ("nested quotes", times("<blockquote>a")),
        ("nested formatting", times("<b><i>a")),
        ("nested menus", times("<nav><main>a")),
        ("hidden blocks", times("<div hidden>a")),
        (
            "closed and never opened",
            times("</div></table></ul></nav>"),
        ),
        ("links without text", times("<a href=x>")),
        ("links with text", times("<a href=x>a</a> ")),
        ("attributes", format!("<p {}>a", times("a=b "))),
        ("one attribute", format!("<a href='{}'>a</a>", times("x"))),
        ("cells", format!("<table><tr>{}", times("<td>a"))),
        ("code", times("<pre>a</pre>")),
        ("open comments", times("<!--")),
        ("entities", times("&amp;&notit;&")),
    ]
}

#[test]
fn a_page_made_to_be_costly_costs_what_its_length_costs() {
    let page = Url::parse("https://example.com/").expect("a URL");
    let steps = |source: &str| read(source, &page, Kind::Html, 12_000).steps;
    for ((name, small), (_, large)) in costly(2_000).iter().zip(&costly(16_000)) {
        let (few, many) = (steps(small), steps(large));
        let bytes = large.len() as u64;
        assert!(many <= 5 * bytes, "{name}: {many} steps for {bytes} bytes");
        assert!(
            many <= 9 * few + 100_000,
            "{name}: {few} steps, eightfold {many}"
        );
    }
}

#[test]
fn ten_megabytes_of_nesting_are_read_without_a_stack() {
    let page = Url::parse("https://example.com/").expect("a URL");
    let source = "<div>".repeat(2_000_000);
    let got = read(&source, &page, Kind::Html, 12_000);
    assert!(got.steps <= 3 * source.len() as u64);
    assert_eq!((got.text.as_str(), got.whole), ("", true));
}
