//! Every shader that the product assembles is valid, and every file says what it imports.

use crate::backends::common::context;
use skinbench::bake::BakeFormat;
use skinbench::frame::Purpose;
use skinbench::gpu::device::objects::named;
use skinbench::gpu::forms::kind::{Kind, vertex_shader};
use skinbench::gpu::forms::morph::MorphForm;
use skinbench::gpu::forms::output::OutputForm;
use skinbench::gpu::kernel::GroupLayout;
use skinbench::gpu::passes::bake;
use skinbench::gpu::passes::cull;
use skinbench::gpu::passes::gameplay;
use skinbench::gpu::passes::pose_kernels::{BATCH_OF_ONE, BATCH_OF_SEVERAL, KERNELS};
use skinbench::gpu::passes::update;
use skinbench::gpu::passes::vertices::{draw_root, preskinned_shader};
use skinbench::gpu::shader::reflection::{Binding, Interface};
use skinbench::gpu::shader::wgsl::{FILES, imports, origin, shader};
use skinbench::gpu::wgpu::ShaderStages;
use skinbench::gpu::wgpu::naga;
use skinbench::gpu::wgpu::naga::valid::{Capabilities, ValidationFlags, Validator};
use skinbench::gpu::{MeshForm, PaletteForm};
use skinbench::registry::{skin_kernels, vertex_forms};
use skinbench::vertex::{Attributes, Encoding, VertexFormat};
use std::collections::BTreeSet;

const FORMS: [MeshForm; 2] = [MeshForm::Plain, MeshForm::Packed];

const MORPHS: [MorphForm; 3] = [MorphForm::Sparse, MorphForm::Dense, MorphForm::Texture];

/// Name and text of every shader that the product can assemble.
pub fn all() -> Vec<(String, String)> {
    let mut kernels = Vec::new();
    for (strategy, mesh) in skin_kernels()
        .into_iter()
        .flat_map(|s| FORMS.map(|mesh| (s, mesh)))
    {
        let formats = [Attributes::P, Attributes::Pn, Attributes::Pnt]
            .into_iter()
            .flat_map(|attributes| {
                [Encoding::F32, Encoding::Packed].map(|encoding| VertexFormat {
                    attributes,
                    encoding,
                    ..Default::default()
                })
            });
        for format in formats {
            let name = format!("gpu-compute:{}, {mesh:?}, {format:?}", strategy.name);
            kernels.push((
                name,
                strategy.shader(Kind {
                    format,
                    mesh,
                    influences: 16,
                    layers: 4,
                    morph: None,
                }),
            ));
        }
    }
    for kernel in KERNELS {
        for batch in [BATCH_OF_ONE, BATCH_OF_SEVERAL] {
            let name = format!("{}, {batch:?}", kernel.name());
            kernels.push((name, kernel.shader(batch)));
        }
    }
    kernels.extend(cull::shaders().map(|(name, wgsl)| (name.to_owned(), wgsl)));
    kernels.push(("pose_baked".to_owned(), bake::shader()));
    kernels.push(("update".to_owned(), update::shader()));
    let baked = [BakeFormat::Motions, BakeFormat::Matrices].map(PaletteForm::Baked);
    for stage in gameplay::STAGES {
        let forms = [PaletteForm::Rows, baked[0], baked[1]];
        kernels.extend(forms.map(|form| {
            (
                format!("{stage:?}, {form:?}"),
                gameplay::shader(stage, form),
            )
        }));
    }
    kernels.extend(
        [
            "arithmetic.wgsl",
            "copy.wgsl",
            "fill.wgsl",
            "lines.wgsl",
            "read.wgsl",
        ]
        .map(|file| (file.to_owned(), shader(file, &[]))),
    );
    for (_, mesh, palette) in vertex_forms() {
        for root in [
            draw_root(false, false),
            draw_root(false, true),
            "capture.wgsl",
        ] {
            let wgsl = vertex_shader(mesh, palette, None, root);
            kernels.push((format!("gpu-vertex, {root}, {palette:?}, {mesh:?}"), wgsl));
        }
    }
    for (morph, attributes) in MORPHS
        .into_iter()
        .flat_map(|m| [Attributes::P, Attributes::Pnt].map(|a| (m, a)))
    {
        let format = VertexFormat {
            attributes,
            ..Default::default()
        };
        let kind = Kind {
            format,
            mesh: MeshForm::Plain,
            influences: 4,
            layers: 1,
            morph: Some(morph),
        };
        for strategy in skin_kernels() {
            kernels.push((
                format!("gpu-compute:{}, {morph:?}, {format:?}", strategy.name),
                strategy.shader(kind),
            ));
        }
        let wgsl = vertex_shader(kind.mesh, PaletteForm::Rows, kind.morph, "capture.wgsl");
        kernels.push((format!("gpu-vertex, {morph:?}"), wgsl));
    }
    for stored in OutputForm::ALL {
        for root in [
            draw_root(false, false),
            draw_root(true, false),
            draw_root(false, true),
        ] {
            let mut push = |merged| {
                let wgsl = preskinned_shader(stored, merged, root);
                kernels.push((
                    format!("preskinned, {root}, {stored:?}, merged: {merged}"),
                    wgsl,
                ));
            };
            push(false);
            // No kernel stores streams of several models.
            if stored.streams().is_empty() {
                push(true);
            }
        }
    }
    kernels
}

/// Parses and validates a complete shader.
///
/// # Panics
/// A fault, with its file and line in shaders/.
fn validate(name: &str, wgsl: &str) {
    let fault = |place: Option<naga::SourceLocation>, text: String| -> ! {
        let place = place.and_then(|place| origin(wgsl, place.line_number as usize));
        panic!("{name}: {place:?}: {text}")
    };
    let module = naga::front::wgsl::parse_str(wgsl)
        .unwrap_or_else(|error| fault(error.location(wgsl), error.emit_to_string(wgsl)));
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    if let Err(error) = validator.validate(&module) {
        fault(error.location(wgsl), error.emit_to_string(wgsl));
    }
}

#[test]
fn every_shader_is_valid() {
    for (name, wgsl) in all() {
        validate(&name, &wgsl);
    }
}

#[test]
fn an_error_names_file_and_line() {
    let broken = shader("lines.wgsl", &[]).replace("view.view_projection", "view.projection");
    let error = Interface::of(&broken).unwrap_err();
    let (_, text) = FILES
        .iter()
        .find(|(name, _)| *name == "lines.wgsl")
        .unwrap();
    let line = 1 + text
        .lines()
        .position(|line| line.contains("view.view_projection"))
        .unwrap();
    assert!(
        error.starts_with(&format!("shaders/lines.wgsl:{line}: ")) && error.contains("projection"),
        "{error}"
    );
}

/// Numbers of bindings stand in WGSL alone; a name that Rust does not know is reported.
#[test]
fn bindings_follow_the_shader() {
    let wgsl = shader("fill.wgsl", &[]);
    let moved = Interface::of(&wgsl.replace("@binding(0)", "@binding(3)")).unwrap();
    let [
        Binding {
            name,
            group: 0,
            number: 3,
            ..
        },
    ] = &moved.bindings[..]
    else {
        panic!("{moved:?}")
    };
    assert_eq!(name, "output");
    let Some(gpu) = context().gpu else { return };
    let layout = GroupLayout::new(&gpu, "fill", &[&wgsl], 0, ShaderStages::COMPUTE);
    let buffer = gpu.storage(Purpose::Scratch, "filled", &[0u8; 16]);
    layout.bind(&gpu, "fill", &[named("output", &buffer)]);
    gpu.check().unwrap();
    layout.bind(&gpu, "fill", &[named("input", &buffer)]);
    let error = gpu.check().unwrap_err().to_string();
    assert!(
        error.ends_with("fill: nothing is bound to \"output\""),
        "{error}"
    );
}

#[test]
fn every_file_is_known_and_used() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/gpu/shaders");
    let names = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let there: BTreeSet<String> = names.filter(|name| name.ends_with(".wgsl")).collect();
    assert_eq!(
        there,
        FILES.iter().map(|(name, _)| (*name).to_owned()).collect()
    );
    let all = all();
    let used = there.iter().filter(|file| {
        all.iter()
            .any(|(_, wgsl)| wgsl.contains(&format!("shaders/{file}\n")))
    });
    assert_eq!(used.count(), there.len());
}

/// The words of WGSL, each with the characters before and after it; comments are left out.
fn words(text: &str) -> Vec<(char, &str, char)> {
    let code = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    let other = |c: char| !(c.is_alphanumeric() || c == '_');
    let words = code.flat_map(|line| {
        line.split(other)
            .filter(|word| !word.is_empty())
            .map(move |word| {
                let start = word.as_ptr() as usize - line.as_ptr() as usize;
                let around = |text: &str, last: bool| {
                    let mut chars = text.chars().filter(|c| !c.is_whitespace());
                    if last {
                        chars.next_back()
                    } else {
                        chars.next()
                    }
                    .unwrap_or(' ')
                };
                (
                    around(&line[..start], true),
                    word,
                    around(&line[start + word.len()..], false),
                )
            })
    });
    words.collect()
}

/// Names that a file declares, within functions too.
fn declared(text: &str) -> BTreeSet<&str> {
    let words = words(text);
    let keyword =
        |word: &str| ["alias", "fn", "struct", "const", "override", "let", "var"].contains(&word);
    let after = words
        .windows(2)
        .filter(|pair| keyword(pair[0].1))
        .map(|pair| pair[1].1);
    // Parameters, fields and variables with types.
    let typed = words
        .iter()
        .filter(|(_, _, after)| *after == ':')
        .map(|(_, word, _)| *word);
    after.chain(typed).collect()
}

/// Name that a line declares outside functions and structs.
fn global(line: &str) -> Option<&str> {
    let name = match line.split_once([' ', '<', '('])? {
        ("alias" | "fn" | "struct" | "const" | "override", rest) => rest,
        ("var" | "@group", rest) => rest.split_once(':')?.0.rsplit(' ').next()?,
        _ => return None,
    };
    name.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .next()
}

fn globals(text: &str) -> BTreeSet<&str> {
    text.lines().filter_map(global).collect()
}

/// Rows of the table in `skinbench_gpu::shader::wgsl`: a role, its names, and the files that play it.
fn roles() -> Vec<(&'static str, Vec<&'static str>, Vec<&'static str>)> {
    let page = include_str!("../../../gpu/src/shader/wgsl.rs");
    let cells = |row: &'static str| {
        row.split('|')
            .map(|cell| cell.split('`').skip(1).step_by(2).collect::<Vec<_>>())
    };
    let rows = page
        .lines()
        .filter(|line| line.starts_with("//! | `"))
        .map(|row| cells(row).collect::<Vec<_>>());
    rows.map(|cells| (cells[1][0], cells[2].clone(), cells[3].clone()))
        .collect()
}

#[test]
fn files_import_what_they_use() {
    let text = |file: &str| {
        FILES
            .iter()
            .find(|(name, _)| *name == file)
            .unwrap_or_else(|| panic!("{file}"))
            .1
    };
    let roles = roles();
    for (role, names, files) in &roles {
        for file in files {
            let lacking = names
                .iter()
                .filter(|name| !globals(text(file)).contains(*name))
                .count();
            assert_eq!(lacking, 0, "{file} lacks names of the role {role:?}");
        }
    }
    let everywhere: BTreeSet<&str> = FILES.iter().flat_map(|(_, text)| globals(text)).collect();
    let mut played = BTreeSet::new();
    for (file, text_of_file) in FILES {
        let words = words(text_of_file);
        let local = declared(text_of_file);
        let plain = words
            .iter()
            .filter(|(before, ..)| !['.', '@'].contains(before))
            .map(|(_, word, _)| *word);
        let used: BTreeSet<&str> = plain
            .filter(|word| everywhere.contains(word) && !local.contains(word))
            .collect();
        let mut imported = BTreeSet::new();
        for import in imports(text_of_file).map(Result::unwrap) {
            let role = roles.iter().find(|(role, ..)| *role == import.from);
            played.extend(role.map(|(role, ..)| *role));
            for name in import.names.split(", ") {
                let declared = role.map_or_else(
                    || globals(text(import.from)).contains(name),
                    |r| r.1.contains(&name),
                );
                assert!(
                    declared,
                    "shaders/{file}:{}: {} has no {name:?}",
                    import.line, import.from
                );
                assert!(
                    imported.insert(name),
                    "shaders/{file}:{}: {name:?} is imported twice",
                    import.line
                );
            }
        }
        assert_eq!(used, imported, "used and imported names of shaders/{file}");
    }
    assert_eq!(played.len(), roles.len(), "files import from {played:?}");
}
