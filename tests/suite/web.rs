//! Pages for browsers: what they hold. `scripts/test-web` opens them.

use crate::backends::common::build_scene;
use crate::program::skinbench;
use skinbench::frame::Stage;
use skinbench::gpu::forms::kind::ShaderVariant;
use skinbench::gpu::passes::skin_kernels::{INSTANCES, MERGED, NAIVE};
use skinbench::harness::environment::Build;
use skinbench::harness::stats::Summary;
use skinbench::registry::{BackendEntry, find};
use skinbench::results::session::{Browser, Session};
use skinbench::results::{Row, SampleRow, heading};
use skinbench::scene::{BuiltScene, Settings};
use skinbench::web::{PageChoice, page};
use snapbox::str;
use std::collections::BTreeSet;

fn scene(name: &str, instances: u64) -> BuiltScene {
    let settings = Settings {
        instances: Some(instances),
        ..Settings::default()
    };
    build_scene(name, settings)
}

fn page_of(crowds: &[BuiltScene], names: &[&str]) -> String {
    let backends: Vec<&'static BackendEntry> =
        names.iter().map(|name| find(name).unwrap()).collect();
    page(
        crowds,
        PageChoice {
            backends: &backends,
            passes: &[1, 2],
            build: &Build::default(),
        },
    )
    .unwrap()
}

/// The shaders in a page, as they stand there.
fn shaders(page: &str) -> Vec<String> {
    let parts = page.split("<pre class=\"wgsl\"").skip(1);
    let text = |part: &str| {
        part.split_once('>')
            .unwrap()
            .1
            .split_once("</pre>")
            .unwrap()
            .0
            .to_owned()
    };
    let plain = |text: String| {
        text.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&amp;", "&")
    };
    parts.map(text).map(plain).collect()
}

#[test]
fn a_page_holds_the_shaders_that_the_backends_run() {
    let crowds = [scene("smoke", 12)];
    let page = page_of(
        &crowds,
        &[
            "gpu-vertex",
            "gpu-compute:naive",
            "gpu-compute:merged",
            "gpu-full",
        ],
    );
    let found = shaders(&page);
    for kernel in [NAIVE, INSTANCES, MERGED] {
        for group in crowds[0].crowd.groups() {
            let expected = kernel.shader(ShaderVariant::of(group, kernel.mesh));
            assert!(
                found.contains(&expected),
                "{} is not in the page as it is run",
                kernel.name
            );
        }
    }
    // The name of SVG's elements is no address.
    let page = page.replace("http://www.w3.org/2000/svg", "");
    for address in ["http://", "https://", " src=", "fetch(", "@import"] {
        assert!(!page.contains(address), "the page has {address}");
    }
}

#[test]
fn the_page_of_walkers_opens_quickly_on_a_phone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    skinbench(&folder, "web walkers -o page.html")
        .assert()
        .success();
    let bytes = std::fs::metadata(file).unwrap().len();
    assert!(bytes <= 2_500_000, "{bytes} bytes");
}

#[test]
fn the_page_names_only_columns_stages_and_states_that_there_are() {
    let page = page_of(&[scene("smoke", 12)], &["gpu-full"]);
    let scripts = page.rsplit_once("<script>").unwrap().1;
    let rows = [heading::<Row>().unwrap(), heading::<SampleRow>().unwrap()].join(",");
    let mut known: BTreeSet<&str> = rows.split(',').collect();
    known.extend(Stage::ALL.iter().map(|stage| stage.name()));
    known.extend(["parity_failed", "too_large"]);
    let form = serde_json::to_string(&Session {
        browser: Some(Browser::default()),
        ..Session::default()
    })
    .unwrap();
    known.extend(form.split('"'));
    // Names with an underscore are the native program's; those of JavaScript have none.
    let words = scripts.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let is_native =
        |word: &&str| word.contains('_') && word.starts_with(|c: char| c.is_ascii_lowercase());
    let named: BTreeSet<&str> = words.filter(is_native).collect();
    assert!(
        named.contains("parity_max_rel") && named.len() > 10,
        "{named:?}"
    );
    let unknown: Vec<_> = named.difference(&known).collect();
    assert!(unknown.is_empty(), "the page names {unknown:?}");
}

/// `scripts/browse-web` gives the same cases to the page.
#[test]
fn figures_of_the_cases_that_the_page_shares() {
    let cases: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("../fixtures/statistics.json")).unwrap();
    for case in cases {
        let samples: Vec<u64> = serde_json::from_value(case["samples"].clone()).unwrap();
        let Summary {
            median,
            mad,
            min,
            p95,
            p99,
            max,
        } = Summary::of(samples.iter().copied()).unwrap();
        let noisy = Summary::of(samples).unwrap().is_noisy();
        let figures = serde_json::json!([median, mad, min, p95, p99, max, noisy]);
        assert_eq!(case["figures"], figures, "{}", case["samples"]);
    }
}

#[test]
fn only_backends_on_the_device_are_served() {
    let folder = tempfile::tempdir().unwrap();
    // Each name and pattern has a backend in the page, or is refused.
    for (refused, names) in [
        ("cpu-*", "cpu-*"),
        ("gpu-compute", "gpu-vertex,gpu-compute"),
        ("cpu-rayon", "gpu-*,cpu-rayon"),
    ] {
        let line = format!("error: a page cannot have \"{refused}\"; it has gpu-vertex, [..]\n");
        skinbench(&folder, &format!("web smoke -b {names} -o page.html"))
            .assert()
            .code(2)
            .stderr_eq(line);
    }
    skinbench(&folder, "web smoke")
        .assert()
        .code(2)
        .stderr_eq(str![[r#"
error: the following required arguments were not provided: --output <FILE>

"#]]);
    assert!(!folder.path().join("page.html").exists());
}
