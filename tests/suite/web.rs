//! Pages for browsers: what they hold. `scripts/test-web` opens them.

use skinbench::gpu::skin::skin_kernels::{INSTANCES, MERGED, NAIVE};
use skinbench::gpu::skin::skinning::Kind;
use skinbench::harness::environment::Build;
use skinbench::registry::{BackendEntry, find};
use skinbench::scene::{BuiltScene, Scene, Settings};
use skinbench::web::{Choice, page};
use snapbox::cmd::{Command, cargo_bin};
use snapbox::str;

fn scene(name: &str, instances: u64) -> BuiltScene {
    let settings = Settings { instances: Some(instances), ..Settings::default() };
    Scene::load(name).unwrap().with(settings).build(u64::MAX).unwrap()
}

fn page_of(crowds: &[BuiltScene], names: &[&str]) -> String {
    let backends: Vec<&'static BackendEntry> = names.iter().map(|name| find(name).unwrap()).collect();
    page(crowds, Choice { backends: &backends, passes: &[1, 2], build: &Build::default() }).unwrap()
}

/// The shaders in a page, as they stand there.
fn shaders(page: &str) -> Vec<String> {
    let parts = page.split("<pre class=\"wgsl\"").skip(1);
    let text = |part: &str| part.split_once('>').unwrap().1.split_once("</pre>").unwrap().0.to_owned();
    let plain =
        |text: String| text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    parts.map(text).map(plain).collect()
}

#[test]
fn a_page_holds_the_shaders_that_the_backends_run() {
    let crowds = [scene("smoke", 12)];
    let page = page_of(&crowds, &["gpu-vertex", "gpu-compute:naive", "gpu-compute:merged", "gpu-full"]);
    let found = shaders(&page);
    for kernel in [NAIVE, INSTANCES, MERGED] {
        for group in crowds[0].crowd.groups() {
            let expected = kernel.shader(Kind::of(group, kernel.mesh));
            assert!(found.contains(&expected), "{} is not in the page as it is run", kernel.name);
        }
    }
    // The name of SVG's elements is no address.
    let page = page.replace("http://www.w3.org/2000/svg", "");
    for address in ["http://", "https://", " src=", "fetch(", "@import"] {
        assert!(!page.contains(address), "the page has {address}");
    }
}

#[test]
fn a_page_of_a_thousand_walkers_can_be_mailed() {
    let names: Vec<&str> = skinbench::registry::REGISTRY
        .iter()
        .map(|entry| entry.name)
        .filter(|name| {
            name.starts_with("gpu-")
                && *name != "gpu-compute"
                && !["culled", "levels"].iter().any(|end| name.ends_with(end))
        })
        .collect();
    let page = page_of(&[scene("walkers", 100), scene("walkers", 333), scene("walkers", 1000)], &names);
    assert!(page.len() < 8 << 20, "{} bytes", page.len());
}

#[test]
fn only_backends_on_the_device_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let web = |arguments: &str| {
        Command::new(cargo_bin!("skinbench")).args(arguments.split_whitespace()).current_dir(folder.path())
    };
    web("web smoke -b cpu-* -o page.html").assert().code(2).stderr_eq(str![[r#"
error: a page has none of the backends cpu-*; it has gpu-vertex, [..]

"#]]);
    web("web smoke").assert().code(2).stderr_eq(str![[r#"
error: the following required arguments were not provided: --output <FILE>

"#]]);
    assert!(!folder.path().join("page.html").exists());
}
