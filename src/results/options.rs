//! The column `options`: settings that differ from their defaults, as `name=value` or `name` of a switch, separated by
//! spaces and in the order of the names.

use crate::harness::Disturbance;
use crate::scene::Settings;
use std::collections::BTreeMap;

/// The options of settings, and of what disturbs frames.
pub fn of(settings: &Settings, disturbance: Disturbance) -> String {
    let mut options: BTreeMap<&str, String> = BTreeMap::new();
    for chosen in settings.chosen() {
        if !chosen.is_default() && !chosen.setting.has_column {
            // A name of a clip or a joint may have spaces.
            let value = chosen.words.join("/").replace(' ', "_");
            options.insert(chosen.setting.name, value);
        }
    }
    if disturbance.cold {
        options.insert("caches", "cold".into());
    }
    let mut words = Vec::new();
    for (name, value) in options {
        words.push(if value.is_empty() {
            name.to_owned()
        } else {
            format!("{name}={value}")
        });
    }
    words.join(" ")
}

/// The value of an option; `None` if it is the default, empty for a switch.
pub fn get<'a>(options: &'a str, name: &str) -> Option<&'a str> {
    for word in options.split(' ') {
        let (known, value) = word.split_once('=').unwrap_or((word, ""));
        if known == name {
            return Some(value);
        }
    }
    None
}

/// The options with another value of one of them, if it is there.
pub fn with(options: &str, name: &str, value: &str) -> String {
    let mut words = Vec::new();
    for word in options.split(' ') {
        words.push(match word.split_once('=') {
            Some((known, _)) if known == name => format!("{name}={value}"),
            _ => word.to_owned(),
        });
    }
    words.join(" ")
}

/// The options without one of them.
pub fn without(options: &str, name: &str) -> String {
    let mut words: Vec<&str> = options.split(' ').collect();
    words.retain(|word| word.split('=').next() != Some(name));
    words.join(" ")
}
