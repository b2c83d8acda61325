//! `examples/c` compiles without a warning, and agrees with its own loop; the header is C++, too.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;
// Cargo builds the library for this.
use skinbench_capi as _;

const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-pedantic", "-Werror"];

/// The static library, beside this test: the newest, because the names of old builds differ.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let files = test.parent().unwrap().read_dir().unwrap();
    let mut libraries: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    libraries.retain(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libskinbench_capi") && name.ends_with(".a")
    });
    libraries.sort_by_key(|path| path.metadata().unwrap().modified().unwrap());
    libraries.pop().expect("cargo builds a static library")
}

/// Runs a command, and returns what it printed and whether it succeeded.
fn output(command: &mut Command) -> (String, bool) {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = [output.stdout, output.stderr].concat();
    (
        String::from_utf8_lossy(&said).into_owned(),
        output.status.success(),
    )
}

/// A compiler that finds the header.
fn compiler(name: &str, standard: &str) -> Command {
    let mut command = Command::new(name);
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    command.arg(standard).args(STRICT).arg("-I").arg(include);
    command
}

/// Compiles and runs the example.
fn run_example(options: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("skin");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/c/skin.c");
    let mut cc = compiler("cc", "-std=c99");
    cc.args(options).arg(source).arg(library());
    let (said, compiled) = output(cc.args(["-lm", "-lpthread", "-ldl", "-o"]).arg(&program));
    assert!(compiled, "{said}");
    let (said, ran) = output(&mut Command::new(&program));
    assert!(ran && said.starts_with("version 256;"), "{said}");
}

#[test]
fn the_example_agrees_with_its_own_loop() {
    run_example(&[]);
}

#[test]
fn the_example_is_clean_under_address_sanitizer() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.c");
    std::fs::write(&empty, "int main(void) { return 0; }\n").unwrap();
    let program = folder.path().join("empty");
    let mut cc = Command::new("cc");
    let (said, is_supported) = output(
        cc.arg("-fsanitize=address")
            .arg(&empty)
            .arg("-o")
            .arg(&program),
    );
    if is_supported {
        run_example(&[
            "-g",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all",
        ]);
    } else {
        eprintln!("not tried: cc has no AddressSanitizer: {said}");
    }
}

#[test]
fn the_header_is_cpp_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("header.cpp");
    std::fs::write(
        &source,
        "#include \"skinbench.h\"\nint main() { return skinbench_version() == 0; }\n",
    )
    .unwrap();
    let mut cpp = compiler("c++", "-std=c++17");
    let (said, compiled) = output(cpp.arg("-fsyntax-only").arg(&source));
    assert!(compiled, "{said}");
}
