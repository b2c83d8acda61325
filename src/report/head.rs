//! The head that all pages share: nothing in it needs a network.

use maud::{Markup, PreEscaped, html};

/// The element `head` of a page with this title and these style sheets, one after the other.
pub fn head(title: &str, description: Option<&str>, styles: &[&str]) -> Markup {
    html! {
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
    }
}
