//! Fetches a page or searches, with the fence that the product uses:
//! `ask fetch https://…` or `ask search http://127.0.0.1:8080 words`.

use guildhall_web::{Fence, FenceParts, FetchLimits};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let fence = Fence::new(FenceParts::system());
    match words.as_slice() {
        ["fetch", url] => match fence.fetch(url, FetchLimits::default()).await {
            Ok(page) => println!("{page:?}\n{:?}\n\n{}", page.title, page.text),
            Err(refusal) => println!("{}: {refusal}", refusal.code()),
        },
        ["search", base, query @ ..] => match fence.search(base, &query.join(" ")).await {
            Ok(answer) => {
                println!("{} hits", answer.hits.len());
                for hit in answer.hits {
                    println!("{}\n  {}\n  {}", hit.title, hit.url, hit.snippet);
                }
            }
            Err(refusal) => println!("{}: {refusal}", refusal.code()),
        },
        _ => println!("ask fetch URL, or ask search BASE WORDS"),
    }
}
