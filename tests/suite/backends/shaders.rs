//! Every shader that the product assembles is valid, and every file says what it imports.

use crate::backends::common::{context, small_scene};
use skinbench::backend::gpu::{Skinning, Strategy};
use skinbench::backend::{Context, Skinned};
use skinbench::bake::BakeFormat;
use skinbench::frame::{BackendError, FrameInput, Job, OutputBuffers, Purpose, StageTimer};
use skinbench::frustum::Frustum;
use skinbench::gpu::device::objects::named;
use skinbench::gpu::draw::present::Presenter;
use skinbench::gpu::forms::kind::{ShaderVariant, vertex_shader};
use skinbench::gpu::forms::morph::MorphForm;
use skinbench::gpu::forms::output::OutputForm;
use skinbench::gpu::kernel::GroupLayout;
use skinbench::gpu::passes::bake;
use skinbench::gpu::passes::cull;
use skinbench::gpu::passes::gameplay;
use skinbench::gpu::passes::pose_kernels::{BATCH_OF_ONE, BATCH_OF_SEVERAL, KERNELS};
use skinbench::gpu::passes::skin_kernels::{COLUMNS, LISTED, LISTED_COLUMNS};
use skinbench::gpu::passes::update;
use skinbench::gpu::passes::vertices::{draw_root, preskinned_shader};
use skinbench::gpu::shader::reflection::{Binding, Interface};
use skinbench::gpu::shader::wgsl::{FILES, imports, origin, shader};
use skinbench::gpu::wgpu::ShaderStages;
use skinbench::gpu::wgpu::naga;
use skinbench::gpu::wgpu::naga::valid::{Capabilities, ValidationFlags, Validator};
use skinbench::gpu::{Capture, Drawable, Gpu, MeshForm, PaletteForm};
use skinbench::registry::{BackendEntry, Constructor, REGISTRY, skin_kernels, vertex_forms};
use skinbench::scene::{BuiltScene, Output, Settings};
use skinbench::vertex::{Attributes, Encoding, VertexFormat};
use std::collections::BTreeSet;
use std::sync::Arc;

const FORMS: [MeshForm; 2] = [MeshForm::Plain, MeshForm::Packed];

/// Compute kernels have one form of morph targets.
const MORPHS: [Option<MorphForm>; 2] = [None, Some(MorphForm::Sparse)];

/// Name and text of every shader that the product can assemble; the last skinning kernels are those of adopted meshes.
pub fn all() -> Vec<(String, String)> {
    let mut kernels = Vec::new();
    for strategy in skin_kernels()
        .into_iter()
        .chain([&COLUMNS, &LISTED, &LISTED_COLUMNS])
    {
        for (mesh, morph) in FORMS.into_iter().flat_map(|mesh| MORPHS.map(|m| (mesh, m))) {
            for (attributes, encoding) in Attributes::ALL
                .into_iter()
                .flat_map(|a| [Encoding::F32, Encoding::Packed].map(|encoding| (a, encoding)))
            {
                let format = VertexFormat {
                    attributes,
                    encoding,
                    ..Default::default()
                };
                let kind = ShaderVariant {
                    format,
                    mesh,
                    influences: 16,
                    layers: 4,
                    morph,
                };
                let name = format!("gpu-compute:{}, {kind:?}", strategy.name);
                kernels.push((name, strategy.shader(kind)));
            }
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
    for (_, wanted, palette) in vertex_forms() {
        // A packed mesh that does not fit is a plain one, and baked vertices have no morph targets.
        let (meshes, morphs) = match wanted {
            MeshForm::Packed => (&FORMS[..], Some(Skinning::Vertex(wanted, palette).morph())),
            MeshForm::Nothing => (&[wanted][..], None),
            _ => (
                &[wanted][..],
                Some(Skinning::Vertex(wanted, palette).morph()),
            ),
        };
        for &mesh in meshes {
            for root in [
                draw_root(false, false),
                draw_root(false, true),
                "capture.wgsl",
            ] {
                let name = format!("gpu-vertex, {root}, {palette:?}, {mesh:?}");
                kernels.push((name.clone(), vertex_shader(mesh, palette, None, root)));
                if morphs.is_some() {
                    let wgsl = vertex_shader(mesh, palette, morphs, root);
                    kernels.push((format!("{name}, {morphs:?}"), wgsl));
                }
            }
        }
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

/// The settings whose values select shaders: the form of vertices, motion vectors, what gameplay reads, and instances that
/// are replaced.
fn settings() -> Vec<Settings> {
    let mut all = Vec::new();
    for (attributes, output, motion) in [
        (Attributes::P, Output::F32, false),
        (Attributes::Pn, Output::F32, true),
        (Attributes::Pnt, Output::F32, true),
        (Attributes::P, Output::Packed, true),
        (Attributes::Pn, Output::Packed, false),
        (Attributes::Pnt, Output::Packed, true),
    ] {
        all.push(Settings {
            instances: Some(4),
            passes: Some(1),
            attributes: Some(attributes),
            output: Some(output),
            motion,
            turnover: motion.then_some(0.2),
            ..Settings::default()
        });
    }
    let with_joints = Settings {
        bounds: true,
        sockets: vec!["head".into()],
        ..all[0].clone()
    };
    all.push(with_joints);
    all
}

/// The shaders of a frame of a backend that is drawn and read back, as a device that records is asked for them; none if
/// the backend refuses the crowd.
fn assembled(strategy: Strategy, scene: &BuiltScene) -> Vec<String> {
    let gpu = Gpu::recording();
    let record = || -> skinbench::frame::Result<()> {
        let context = Context {
            gpu: Some(Arc::clone(&gpu)),
            ..Context::default()
        };
        let entry = Constructor::Device(strategy).named("tried", "");
        let backend = entry.create(&context)?;
        let crowd = &scene.crowd;
        let job = Job {
            keep: scene.settings.retention(),
            frustum: Frustum::new(scene.view_projection()),
            gameplay: scene.gameplay.clone(),
            ..Job::default()
        };
        let mut output = OutputBuffers::default();
        if backend.footprint(crowd, &job)?.device_output {
            gpu.allocate_output(crowd, job.keep, &mut output)?;
        }
        let view = scene.view();
        let mut presenter = Presenter::new(Arc::clone(&gpu), crowd, view, 1)?;
        let mut prepared = backend.prepare(crowd, &job)?;
        let mut timer = StageTimer::default();
        let mut frame = FrameInput {
            crowd,
            tick: 0,
            output: &mut output,
        };
        let ticket = prepared.submit(&mut frame, &mut timer)?;
        ticket
            .draw(&mut presenter, &prepared.skinned(), &frame, &mut timer)?
            .finish()?;
        if let Skinned::Device(Drawable::Shader(source)) = prepared.skinned() {
            Capture::new(&gpu, crowd, &source)?;
        }
        gpu.check()
    };
    match record() {
        Ok(()) => {}
        Err(BackendError::Unavailable(_)) => return Vec::new(),
        Err(error) => panic!("{strategy:?}: {error}"),
    }
    let tape = gpu.tape().unwrap();
    let modules = tape.objects.iter();
    let texts = modules.filter_map(|object| object.value["text"].as_str());
    texts.map(str::to_owned).collect()
}

/// The strategies of a backend: one for each kernel that it may choose.
fn strategies(entry: &BackendEntry) -> Vec<Strategy> {
    let Constructor::Device(strategy) = entry.constructor else {
        return Vec::new();
    };
    let Skinning::Compute(kernels) = strategy.skin else {
        return vec![strategy];
    };
    let each = kernels.chunks(1).map(|kernel| Strategy {
        skin: Skinning::Compute(kernel),
        ..strategy
    });
    each.collect()
}

/// [`all`] is written by hand: what it lacks is neither validated nor compared with Rust.
#[test]
fn every_shader_of_a_backend_is_listed() {
    let listed: BTreeSet<String> = all().into_iter().map(|(_, wgsl)| wgsl).collect();
    let mut seen = BTreeSet::new();
    for name in ["smoke", "faces", "zoo"] {
        for settings in settings() {
            let scene = small_scene(name).with(settings).build(u64::MAX);
            // Morph targets have no bounds, and not every model of the zoo has a head.
            let Ok(scene) = scene else { continue };
            for entry in REGISTRY.iter() {
                for strategy in strategies(entry) {
                    for wgsl in assembled(strategy, &scene) {
                        assert!(
                            listed.contains(&wgsl),
                            "{} on {name}: this shader is not in `all`:\n{wgsl}",
                            entry.name
                        );
                        seen.insert(wgsl);
                    }
                }
            }
        }
    }
    assert!(seen.len() > 60, "{} shaders were tried", seen.len());
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
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/shaders");
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

/// Rows of the table in `skinbench_shaders::wgsl`: a role, its names, and the files that play it.
fn roles() -> Vec<(&'static str, Vec<&'static str>, Vec<&'static str>)> {
    let page = include_str!("../../../shaders/src/wgsl.rs");
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
