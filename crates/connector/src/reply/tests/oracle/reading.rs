//! The oracle's own reading of lines: which code block is open where.
//!
//! In: a text. Out: what is open before and after each of its lines. Never: the splitter's code.

/// A code block that is open, as the oracle sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) symbol: char,
    pub(super) run: usize,
    pub(super) info: String,
    pub(super) quotes: usize,
    pub(super) list: usize,
}

/// A line of a text: where it begins, and what is open before and after it.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) start: usize,
    pub(super) before: Option<Block>,
    pub(super) after: Option<Block>,
    pub(super) list_after: usize,
}

pub(super) fn state_at(text: &str, lines: &[Seen], at: usize) -> (Option<Block>, usize, bool) {
    let Some(index) = lines.iter().rposition(|line| line.start <= at) else {
        return (None, 0, false);
    };
    let line = &lines[index];
    if line.start == at {
        let list = index
            .checked_sub(1)
            .map_or(0, |before| lines[before].list_after);
        return (line.before.clone(), list, false);
    }
    debug_assert!(!text[..at].ends_with('\n') || at == text.len());
    (line.after.clone(), line.list_after, true)
}

/// Reads a text line by line; `open` and `list` are what holds before it, and `mid` says that it
/// begins within a line.
pub(super) fn read(text: &str, open: Option<Block>, list: usize, mid: bool) -> Vec<Seen> {
    let (mut open, mut list, mut start) = (open, list, 0);
    let mut lines = Vec::new();
    for raw in text.split_inclusive('\n') {
        let line = raw.strip_suffix('\n').unwrap_or(raw);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let within = mid && start == 0;
        let mut rest = line;
        if let Some(block) = &open {
            let quotes = if within {
                block.quotes
            } else {
                unquote(&mut rest, block.quotes)
            };
            if quotes < block.quotes {
                open = None;
                rest = line;
            }
        }
        let before = open.clone();
        match &open {
            Some(block) if closes(rest, block) => open = None,
            Some(_) => {}
            None => {
                let list_before = list;
                open = opens(rest, &mut list);
                if within {
                    list = list_before;
                }
            }
        }
        lines.push(Seen {
            start,
            before,
            after: open.clone(),
            list_after: list,
        });
        start += raw.len();
    }
    lines
}

fn unquote(rest: &mut &str, most: usize) -> usize {
    for count in 0..most {
        let bare = rest.trim_start_matches(' ');
        if rest.len() - bare.len() > 3 || !bare.starts_with('>') {
            return count;
        }
        *rest = bare[1..].strip_prefix(' ').unwrap_or(&bare[1..]);
    }
    most
}

fn columns(rest: &str) -> usize {
    let blanks = rest.chars().take_while(|c| matches!(c, ' ' | '\t'));
    blanks.map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

fn run(rest: &str) -> Option<(char, usize)> {
    let symbol = rest.chars().next().filter(|c| "`~".contains(*c))?;
    let count = rest.chars().take_while(|&c| c == symbol).count();
    (3..=16).contains(&count).then_some((symbol, count))
}

fn closes(rest: &str, block: &Block) -> bool {
    let bare = rest.trim_start_matches([' ', '\t']);
    columns(rest) <= block.list + 3
        && run(bare).is_some_and(|(symbol, count)| {
            symbol == block.symbol && count >= block.run && bare[count..].trim().is_empty()
        })
}

fn opens(line: &str, list: &mut usize) -> Option<Block> {
    let mut rest = line;
    let quotes = unquote(&mut rest, 8);
    let indent = columns(rest);
    let code = indent > *list + 3;
    rest = rest.trim_start_matches([' ', '\t']);
    if rest.is_empty() {
        return None;
    }
    let mut items = 0;
    while !code && items < 4 && item(rest) > 0 {
        items += 1;
        rest = &rest[item(rest)..];
    }
    let taken = line.len() - rest.len();
    *list = if items == 0 {
        indent.min(*list)
    } else {
        width(line, taken, indent).min(40)
    };
    let (symbol, count) = run(rest)?;
    let info = rest[count..].trim();
    let inline = symbol == '`' && info.contains('`');
    let info = if info.starts_with(symbol) { "" } else { info }.to_owned();
    let block = Block {
        symbol,
        run: count,
        info,
        quotes,
        list: *list,
    };
    (!code && !inline && 2 * quotes + count <= 16).then_some(block)
}

/// Columns up to the content of a list item, quote marks not counted.
fn width(line: &str, taken: usize, indent: usize) -> usize {
    let mut rest = line;
    unquote(&mut rest, 8);
    let markers = rest.trim_start_matches([' ', '\t']);
    indent + taken - (line.len() - markers.len())
}

/// Length of a list marker with the blanks after it.
fn item(rest: &str) -> usize {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let marker = match rest.as_bytes().get(digits) {
        Some(b'-' | b'*' | b'+') if digits == 0 => 1,
        Some(b'.' | b')') if digits > 0 && digits < 10 => digits + 1,
        _ => return 0,
    };
    match rest[marker..].bytes().take_while(|&b| b == b' ').count() {
        0 => 0,
        blanks @ 1..=4 => marker + blanks,
        _ => marker + 1,
    }
}
