//! Runs the programs in `examples/`, which `cargo test` has built, and checks what they print.

use std::env::consts::EXE_EXTENSION;
use std::process::Command;

/// The lines that an example prints.
fn output_of(example: &str, arguments: &[&str]) -> Vec<String> {
    // Binaries of tests are in a folder beside that of the examples.
    let test = std::env::current_exe().unwrap();
    let built = test
        .ancestors()
        .nth(2)
        .unwrap()
        .join("examples")
        .join(example)
        .with_extension(EXE_EXTENSION);
    let output = Command::new(&built)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .output();
    let output = output.unwrap_or_else(|error| {
        panic!("{}: {error}; run: cargo build --examples", built.display())
    });
    let (printed, errors) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success(),
        "{example} failed:\n{errors}\n{printed}"
    );
    printed.lines().map(str::to_owned).collect()
}

/// The numbers of a line, in their order.
fn numbers(line: &str) -> Vec<f64> {
    let parts = line.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | 'e')));
    parts.filter_map(|part| part.parse().ok()).collect()
}

/// The line that begins with `start`.
fn line<'a>(lines: &'a [String], start: &str) -> &'a str {
    lines
        .iter()
        .find(|line| line.starts_with(start))
        .unwrap_or_else(|| panic!("no line {start:?} in {lines:#?}"))
}

#[test]
fn skin_one_prints_a_vertex_within_the_bounding_box_of_a_person() {
    let rest = output_of("skin_one", &[]);
    let [min_x, min_y, min_z, max_x, max_y, max_z] = numbers(line(&rest, "bounding box"))[..]
    else {
        panic!("{rest:#?}");
    };
    // The walker is 1.75 m tall and stands on y = 0.
    assert!(
        min_y.abs() < 0.05 && (max_y - 1.75).abs() < 0.05,
        "{rest:#?}"
    );
    let vertex = numbers(line(&rest, "vertex 0:").strip_prefix("vertex 0:").unwrap());
    let within = |value: f64, min: f64, max: f64| (min..=max).contains(&value);
    assert!(
        within(vertex[0], min_x, max_x)
            && within(vertex[1], min_y, max_y)
            && within(vertex[2], min_z, max_z)
    );
    let length = vertex[3..].iter().map(|v| v * v).sum::<f64>().sqrt();
    assert!(
        (length - 1.0).abs() < 2e-3,
        "the normal has the length {length}"
    );

    // A file and a time: the clip of this sample moves its vertices.
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/scenes/models/sprout.glb");
    let (start, later) = (
        output_of("skin_one", &[file, "0"]),
        output_of("skin_one", &[file, "0.3"]),
    );
    assert_ne!(line(&start, "bounding box"), line(&later, "bounding box"));
}

#[test]
fn own_backend_passes_verification_next_to_a_built_in_one() {
    let lines = output_of("own_backend", &[]);
    for backend in ["cpu-scalar: ok, parity ", "plain-loop: ok, parity "] {
        let [parity, skin] = numbers(line(&lines, backend).strip_prefix(backend).unwrap())[..]
        else {
            panic!("{lines:#?}");
        };
        assert!(parity > 0.0 && parity < 1e-5 && skin > 0.0, "{lines:#?}");
    }
}

#[cfg(feature = "gpu")]
#[test]
fn own_gpu_kernel_passes_verification_next_to_a_built_in_one() {
    let lines = output_of("own_gpu_kernel", &[]);
    if is_without_adapter(&lines) {
        return;
    }
    for backend in [
        "gpu-compute:naive: ok, parity ",
        "linked-lists: ok, parity ",
    ] {
        let [parity, skin] = numbers(line(&lines, backend).strip_prefix(backend).unwrap())[..]
        else {
            panic!("{lines:#?}");
        };
        assert!(parity > 0.0 && parity < 1e-5 && skin > 0.0, "{lines:#?}");
    }
}

#[cfg(feature = "gpu")]
#[test]
fn adopt_gpu_skins_and_poses_on_a_device_of_its_own() {
    let lines = output_of("adopt_gpu", &[]);
    if is_without_adapter(&lines) {
        return;
    }
    for what in ["one mesh", "7 walkers"] {
        let (_, error) = line(&lines, what).split_once("at most").unwrap();
        let metres = numbers(error)[0];
        assert!(metres > 0.0 && metres < 3e-5, "{lines:#?}");
    }
}

/// Returns whether a program said that there is no adapter, which there must be under SKINBENCH_REQUIRE_GPU.
#[cfg(feature = "gpu")]
fn is_without_adapter(lines: &[String]) -> bool {
    let is_without = lines == ["no adapter: nothing was measured"];
    let is_required = std::env::var_os("SKINBENCH_REQUIRE_GPU").is_some();
    assert!(
        !(is_without && is_required),
        "no adapter, and SKINBENCH_REQUIRE_GPU is set"
    );
    is_without
}

/// Without an adapter, the program must say so; under SKINBENCH_REQUIRE_GPU there must be one.
#[cfg(feature = "gpu")]
#[test]
fn gpu_crowd_prints_stages_of_verified_backends_or_that_there_is_no_adapter() {
    let lines = output_of("gpu_crowd", &["20"]);
    if is_without_adapter(&lines) {
        return;
    }
    assert!(lines[0].starts_with("20 walkers on "), "{lines:#?}");
    for backend in ["gpu-compute", "gpu-full", "gpu-vertex"] {
        assert!(
            numbers(
                line(&lines, &format!("{backend}: parity "))
                    .split_once("parity ")
                    .unwrap()
                    .1
            )[0] < 1e-5
        );
    }
    for stage in ["sample", "palette", "draw", "frame"] {
        let times: Vec<_> = lines
            .iter()
            .filter(|line| line.trim_start().starts_with(stage))
            .collect();
        assert!(times.len() >= 2, "{stage} in {lines:#?}");
        assert!(
            times.iter().all(|time| numbers(time)[0] > 0.0),
            "{times:#?}"
        );
    }
}
