//! Compiles the shaders of skinbench for AMD's hardware with Mesa's RADV, lists registers, occupancy and instructions,
//! and reports whether they got worse. docs/gpu-isa.md explains the tables.

mod assembly;
mod page;
mod programs;
mod radv;
mod roofline;
mod spirv;
mod table;

use page::FAMILIES;
use radv::Radv;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use table::{Row, compare, compiled, csv, parse};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const USAGE: &str = "usage: scripts/gpu-isa [--check]";
/// Folder of the tables, one for each version of Mesa.
const RESULTS: &str = "results/gpu-isa";
/// Folders in which drivers describe themselves to the Vulkan loader.
const DRIVERS: [&str; 3] = [
    "/usr/share/vulkan/icd.d",
    "/usr/local/share/vulkan/icd.d",
    "/etc/vulkan/icd.d",
];
/// Differences that are printed; the rest is counted.
const PRINTED: usize = 20;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        [] => write(),
        ["--check"] => check(),
        // One process for each family, because the driver looks at its environment once.
        ["--family", family] => compile(family),
        // For scripts/test-dawn.
        ["--programs"] => programs::json().map(|json| println!("{json}")),
        _ => Err(USAGE.into()),
    };
    if let Err(error) = done {
        eprintln!("gpu-isa: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Prints the driver's version and then the table of a family; nothing where the driver is missing.
fn compile(family: &str) -> Result<()> {
    let Some(radv) = Radv::open()? else {
        return Ok(());
    };
    let mut rows = Vec::new();
    for program in programs::all()? {
        rows.extend(compiled(&radv, family, &program)?);
    }
    print!("{}\n{}", radv.driver, csv(&rows)?);
    Ok(())
}

/// The driver's version and the table of all families; none where the driver is missing.
fn compiled_for_all() -> Result<Option<(String, Vec<Row>)>> {
    let described = DRIVERS
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .flatten();
    let names = [
        format!("radeon_icd.{}.json", std::env::consts::ARCH),
        "radeon_icd.json".into(),
    ];
    let mut files: Vec<PathBuf> = described.map(|entry| entry.path()).collect();
    files.retain(|file| {
        let name = file.file_name();
        name.is_some_and(|name| names.iter().any(|known| name == known.as_str()))
    });
    let Some(file) = files.first() else {
        return Ok(None);
    };
    let children = FAMILIES.map(|family| {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(["--family", family.name])
            .stdout(Stdio::piped());
        command.envs([
            ("RADV_FORCE_FAMILY", family.name),
            ("MESA_SHADER_CACHE_DISABLE", "true"),
        ]);
        command
            .env("VK_DRIVER_FILES", file)
            .env("VK_ICD_FILENAMES", file);
        command.spawn()
    });
    let mut driver = String::new();
    let mut rows = Vec::new();
    for (child, family) in children.into_iter().zip(&FAMILIES) {
        let output = child?.wait_with_output()?;
        if !output.status.success() {
            return Err(format!("cannot compile for {}", family.name).into());
        }
        let text = String::from_utf8(output.stdout)?;
        let Some((version, table)) = text.split_once('\n') else {
            return Ok(None);
        };
        driver = version.to_owned();
        rows.extend(parse(table)?);
    }
    Ok(Some((driver, rows)))
}

/// The file of a driver's version, such as "Mesa 22.3.6".
fn file(driver: &str) -> Result<PathBuf> {
    let name = driver.to_lowercase().replace(' ', "-");
    let is_plain = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-.+~".contains(c));
    if !name.starts_with("mesa-") || !is_plain {
        return Err(
            format!("the driver calls itself {driver:?}; expected a version of Mesa").into(),
        );
    }
    Ok(Path::new(RESULTS).join(name + ".csv"))
}

const MISSING: &str =
    "gpu-isa: skipped: no Vulkan driver RADV on this machine (Debian: package mesa-vulkan-drivers)";

/// The pages and what stands in them.
fn pages() -> Result<[(&'static str, String); 2]> {
    let isa = "results/gpu-isa/README.md";
    let gpu = "docs/gpu.md";
    Ok([
        (isa, page::spliced(Path::new(isa), "gpu-isa", page::isa)?),
        (
            gpu,
            page::spliced(Path::new(gpu), "roofline", roofline::roofline)?,
        ),
    ])
}

fn write() -> Result<()> {
    let Some((driver, rows)) = compiled_for_all()? else {
        println!("{MISSING}");
        return Ok(());
    };
    let file = file(&driver)?;
    std::fs::create_dir_all(RESULTS)?;
    std::fs::write(&file, csv(&rows)?)?;
    for (page, text) in pages()? {
        std::fs::write(page, text)?;
    }
    println!(
        "gpu-isa: {} shaders by {driver} written to {}",
        rows.len(),
        file.display()
    );
    Ok(())
}

fn check() -> Result<()> {
    for (page, text) in pages()? {
        if std::fs::read_to_string(page)? != text {
            return Err(format!(
                "{page} differs from the table that it names; run scripts/gpu-isa"
            )
            .into());
        }
    }
    let Some((driver, rows)) = compiled_for_all()? else {
        println!("{MISSING}");
        return Ok(());
    };
    let file = file(&driver)?;
    let Ok(text) = std::fs::read_to_string(&file) else {
        println!(
            "gpu-isa: nothing to compare: there is no {} of this machine's {driver}",
            file.display()
        );
        return Ok(());
    };
    let found = compare(&parse(&text)?, &rows);
    for (what, list) in [
        ("worse", &found.worse),
        ("better", &found.better),
        ("other", &found.other),
    ] {
        for line in list.iter().take(PRINTED) {
            println!("{what}: {line}");
        }
        if list.len() > PRINTED {
            println!("{what}: {} more", list.len() - PRINTED);
        }
    }
    if !found.worse.is_empty() || !found.other.is_empty() {
        return Err(format!(
            "{} values got worse and {} shaders came or went since {}; if that is meant, run scripts/gpu-isa",
            found.worse.len(),
            found.other.len(),
            file.display()
        )
        .into());
    }
    println!(
        "gpu-isa: {} shaders by {driver} are not worse than {}",
        rows.len(),
        file.display()
    );
    Ok(())
}
