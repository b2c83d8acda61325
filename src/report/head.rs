//! What all pages share: nothing in it needs a network.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// A page with this title, these style sheets, one after the other, and this content of its element `body`. Scripts
/// that are told about its state change `state`.
pub fn page(
    title: &str,
    description: Option<&str>,
    styles: &[&str],
    state: Option<&str>,
    body: Markup,
) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" data-state=[state] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                @if let Some(description) = description { meta name="description" content=(description); }
                title { (title) }
                // No network request, not even for an icon.
                link rel="icon" href="data:,";
                style { @for sheet in styles { (PreEscaped(sheet)) } }
            }
            body { (body) }
        }
    }
}
