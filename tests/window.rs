//! A real window on a virtual display: it opens, draws, writes what it shows and closes.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A virtual display; it ends with the test.
struct Display {
    server: Child,
    name: String,
}

impl Display {
    fn start() -> Self {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1440x900x24"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| {
                panic!("cannot start Xvfb ({error}); it is in the package xvfb")
            });
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap())
            .read_line(&mut number)
            .unwrap();
        Self {
            server,
            name: format!(":{}", number.trim()),
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

/// `skinbench view` on a display, with settings in a folder.
fn view(display: &str, settings: &Path, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skinbench"));
    command
        .arg("view")
        .args(arguments)
        .env("XDG_CONFIG_HOME", settings)
        .env_remove("WAYLAND_DISPLAY");
    match display {
        "" => command.env_remove("DISPLAY"),
        display => command.env("DISPLAY", display),
    };
    let output = command.output().unwrap();
    (
        output.status.success(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// Width, height and RGBA pixels of a picture.
fn read(path: &Path) -> (u32, u32, Vec<[u8; 4]>) {
    let picture = image::open(path).unwrap().into_rgba8();
    (
        picture.width(),
        picture.height(),
        picture.as_raw().as_chunks::<4>().0.to_vec(),
    )
}

#[test]
fn a_window_opens_draws_and_closes() {
    let display = Display::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("window.png");
    let path = file.to_str().unwrap();
    let arguments = [
        "smoke",
        "--theme",
        "dark",
        "--screenshot",
        path,
        "--exit-after",
        "60",
    ];
    let (done, said) = view(&display.name, folder.path(), &arguments);
    assert!(done, "{said}");
    let (width, height, pixels) = read(&file);
    assert_eq!((width, height), (1360, 800));
    let at = |x: u32, y: u32| pixels[(y * width + x) as usize];
    assert_eq!(
        at(3, 600),
        at(120, 600),
        "the left panel is there and has one colour where it is empty"
    );
    // The picture: crowd, ground and sky between the panels.
    let picture = (20..700).flat_map(|y| (260..1_060).map(move |x| (x, y)));
    let mut colors: Vec<[u8; 4]> = picture.map(|(x, y)| at(x, y)).collect();
    colors.sort_unstable();
    colors.dedup();
    assert!(colors.len() > 1_000, "{} colours", colors.len());
    assert!(
        !folder.path().join("skinbench").exists(),
        "a scripted window leaves no settings"
    );
}

#[test]
fn settings_are_kept_and_a_closed_window_is_a_success() {
    let display = Display::start();
    let folder = tempfile::tempdir().unwrap();
    let (done, said) = view(
        &display.name,
        folder.path(),
        &[
            "smoke",
            "sprout-glb",
            "--backend",
            "cpu-simd",
            "--exit-after",
            "3",
        ],
    );
    assert!(done, "{said}");
    let kept = std::fs::read_to_string(folder.path().join("skinbench/view.toml")).unwrap();
    assert!(
        kept.contains(r#"recent = ["smoke", "sprout-glb"]"#) && kept.contains("cpu-simd"),
        "{kept}"
    );
}

#[test]
fn a_window_without_a_display_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let (done, said) = view("", folder.path(), &["smoke"]);
    let said = said
        .lines()
        .find(|line| line.starts_with("error: ") && !line.contains("XDG_RUNTIME_DIR"))
        .unwrap();
    assert!(
        !done
            && said.contains("no display to open a window on")
            && said.contains("skinbench render"),
        "{said}"
    );
}
