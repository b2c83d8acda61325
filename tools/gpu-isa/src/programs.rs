//! Every pipeline that the product creates for frames that it measures, in every form that changes its machine code.

use crate::radv::Stages;
use skinbench::asset::walker::walker;
use skinbench::bake::{BakeFormat, MOST_LAYERS};
use skinbench::gpu::draw::source::{draw_root, preskinned_shader};
use skinbench::gpu::pose::baked;
use skinbench::gpu::pose::device_pose;
use skinbench::gpu::pose::updates::{self, Record};
use skinbench::gpu::pose::visibility;
use skinbench::gpu::shader::kernel::Constants;
use skinbench::gpu::skin::compute::ThreadLayout;
use skinbench::gpu::skin::morph::MorphForm;
use skinbench::gpu::skin::output::OutputForm;
use skinbench::gpu::skin::skin_kernels;
use skinbench::gpu::skin::skinning::{Kind, vertex_shader};
use skinbench::gpu::{MeshForm, PaletteForm};
use skinbench::vertex::{Attributes, Encoding, VertexFormat};
use std::collections::BTreeSet;

/// Most influences of a vertex: pipelines differ only in whether that is more than four.
pub const INFLUENCES: [u32; 2] = [4, 16];

const ATTRIBUTES: [Attributes; 3] = [Attributes::P, Attributes::Pn, Attributes::Pnt];
const ENCODINGS: [Encoding; 2] = [Encoding::F32, Encoding::Packed];

/// Threads of a wave.
const WAVE: usize = 64;

/// A pipeline.
pub struct Program {
    pub name: String,
    /// Variant among several pipelines of that name; empty if there is only one.
    pub variant: &'static str,
    /// Forms of mesh and vertex, and most influences, where the pipeline skins or reads skinned vertices.
    pub kind: Option<Kind>,
    pub wgsl: String,
    pub constants: Constants,
    /// The binding whose offset is given when it is bound.
    pub dynamic: Option<&'static str>,
    pub stages: Stages,
    /// Distribution of skinning over threads; `None` for pipelines that do not skin, and for vertex shaders whose loops
    /// over more than four influences the compiler mixes with those of culling.
    pub threads: Option<ThreadLayout>,
    /// Turns of the loop over influences, if that is a loop over the entries that a wave names.
    pub turns: Option<f64>,
}

/// All pipelines.
pub fn all() -> crate::Result<Vec<Program>> {
    let mut programs = Vec::new();
    skin(&mut programs)?;
    pose(&mut programs)?;
    draw(&mut programs);
    Ok(programs)
}

/// All pipelines as JSON, for other compilers of WGSL: name, text, overrides, and the pair of entry points that drawing
/// has instead of `main`.
pub fn json() -> crate::Result<String> {
    let listed = all()?.into_iter().map(
        |Program {
             name,
             variant,
             wgsl,
             constants,
             stages,
             ..
         }| {
            let constants: serde_json::Map<_, _> = constants
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.into()))
                .collect();
            let (vertex, fragment) = match stages {
                Stages::Compute => (None, None),
                Stages::Depth => (Some("vertex"), None),
                Stages::Color => (Some("vertex"), Some("fragment")),
                Stages::Motion => (Some("vertex_motion"), Some("fragment_motion")),
            };
            serde_json::json!({
                "name": name, "variant": variant, "wgsl": wgsl, "constants": constants,
                "vertex": vertex, "fragment": fragment,
            })
        },
    );
    Ok(serde_json::to_string(&listed.collect::<Vec<_>>())?)
}

fn formats() -> impl Iterator<Item = VertexFormat> {
    let format = |(attributes, encoding)| VertexFormat {
        attributes,
        encoding,
        ..VertexFormat::default()
    };
    ATTRIBUTES
        .into_iter()
        .flat_map(|a| ENCODINGS.map(|e| (a, e)))
        .map(format)
}

/// Entries that the vertices of a wave name, on average over the walker of `crowd-10k-dense`.
pub fn entries_of_a_wave() -> crate::Result<f64> {
    let model = walker(10_000)?;
    let vertices: Vec<_> = (0..model.mesh().vertex_count()).collect();
    let named = vertices.chunks(WAVE).map(|wave| {
        let influences = wave
            .iter()
            .flat_map(|&vertex| model.mesh().influences_of(vertex));
        influences
            .filter(|(_, weight)| *weight > 0.0)
            .map(|(entry, _)| entry)
            .collect::<BTreeSet<_>>()
            .len()
    });
    Ok(named.clone().sum::<usize>() as f64 / named.len() as f64)
}

fn skin(programs: &mut Vec<Program>) -> crate::Result<()> {
    let turns = entries_of_a_wave()?;
    let baked = skin_kernels::BAKED_CANDIDATES
        .iter()
        .map(|kernel| (format!("gpu-baked:compute, {}", kernel.name), kernel));
    let four = [&skin_kernels::FOUR_INSTANCES];
    // Forms of morph targets make no difference to a crowd without targets.
    let own = skin_kernels::ALL
        .iter()
        .filter(|kernel| kernel.morph == MorphForm::Sparse);
    let others = own
        .chain(&four)
        .map(|kernel| (format!("gpu-compute:{}", kernel.name), kernel));
    for (name, kernel) in others.chain(baked) {
        for (format, influences) in formats().flat_map(|f| INFLUENCES.map(|i| (f, i))) {
            let kind = Kind {
                format,
                mesh: kernel.mesh,
                influences,
                layers: 1,
                morph: None,
            };
            programs.push(Program {
                name: name.clone(),
                variant: "",
                kind: Some(kind),
                wgsl: kernel.shader(kind),
                constants: kernel.constants(kind),
                // The instance of a dispatch per character.
                dynamic: Some("character"),
                stages: Stages::Compute,
                threads: Some(kernel.threads),
                turns: (kernel.palette == PaletteForm::Subgroup).then_some(turns),
            });
        }
    }
    Ok(())
}

fn pose(programs: &mut Vec<Program>) -> crate::Result<()> {
    let model = walker(1_000)?;
    let compute = |name: &str, variant, wgsl, constants| Program {
        name: name.to_owned(),
        variant,
        kind: None,
        wgsl,
        constants,
        dynamic: None,
        stages: Stages::Compute,
        threads: None,
        turns: None,
    };
    for kernel in device_pose::KERNELS {
        for (variant, plain) in [("one layer", true), ("all features", false)] {
            let constants = kernel.constants_on_hardware(&model, plain);
            programs.push(compute(kernel.name(), variant, kernel.shader(), constants));
        }
    }
    programs.extend(visibility::shaders().map(|(name, wgsl)| compute(name, "", wgsl, Vec::new())));
    for (what, width) in [("one layer", 1), ("several layers", MOST_LAYERS as u32)] {
        programs.push(compute(
            "pose_baked",
            what,
            baked::shader(),
            baked::constants(width),
        ));
    }
    for (what, record) in [("layers", Record::Layer), ("places", Record::Placement)] {
        programs.push(compute(
            "update",
            what,
            updates::shader(),
            record.constants(),
        ));
    }
    Ok(())
}

fn draw(programs: &mut Vec<Program>) {
    let skinned = [
        ("gpu-vertex", MeshForm::Packed, PaletteForm::Rows),
        ("gpu-vertex:mat4", MeshForm::Plain, PaletteForm::Columns),
        ("gpu-vertex:uniform", MeshForm::Plain, PaletteForm::Uniform),
        ("gpu-vertex:texture", MeshForm::Plain, PaletteForm::Texture),
        (
            "gpu-baked",
            MeshForm::Packed,
            PaletteForm::Baked(BakeFormat::Motions),
        ),
        (
            "gpu-baked:matrices",
            MeshForm::Packed,
            PaletteForm::Baked(BakeFormat::Matrices),
        ),
        (
            "gpu-vat",
            MeshForm::Nothing,
            PaletteForm::Baked(BakeFormat::Vertices),
        ),
    ];
    let passes = [("depth", Stages::Depth), ("color", Stages::Color)];
    for (name, mesh, palette) in skinned {
        let wgsl = vertex_shader(mesh, palette, None, draw_root(false, false));
        // A vertex shader writes plain floats, and drawing reads no tangents.
        for (attributes, influences) in [Attributes::P, Attributes::Pn]
            .into_iter()
            .flat_map(|a| INFLUENCES.map(|i| (a, i)))
        {
            // Baked vertices have none.
            if mesh == MeshForm::Nothing && influences > 4 {
                continue;
            }
            let kind = Kind {
                format: VertexFormat {
                    attributes,
                    ..VertexFormat::default()
                },
                mesh,
                influences,
                layers: 1,
                morph: None,
            };
            for (variant, stages) in passes {
                programs.push(Program {
                    name: name.into(),
                    variant,
                    kind: Some(kind),
                    wgsl: wgsl.clone(),
                    constants: kind.constants(),
                    dynamic: palette.stride().map(|_| "palettes"),
                    stages,
                    threads: (stages == Stages::Color
                        && influences <= 4
                        && mesh != MeshForm::Nothing)
                        .then_some(ThreadLayout::Pair),
                    turns: None,
                });
            }
        }
    }
    for (name, merged) in [("draw", false), ("draw, merged", true)] {
        for format in formats() {
            let kind = Kind {
                format,
                mesh: MeshForm::Plain,
                influences: 1,
                layers: 1,
                morph: None,
            };
            for (variant, stages) in passes
                .into_iter()
                .chain([("color and motion", Stages::Motion)])
            {
                let root = draw_root(stages == Stages::Motion, false);
                programs.push(Program {
                    name: name.into(),
                    variant,
                    kind: Some(kind),
                    wgsl: preskinned_shader(OutputForm::of(format.encoding), merged, root),
                    constants: kind.constants(),
                    dynamic: None,
                    stages,
                    threads: None,
                    turns: None,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table lists two classes of pipelines for 1 to 16 influences.
    #[test]
    fn influences_matter_only_beyond_four() {
        for kernel in skin_kernels::ALL {
            let kind = Kind {
                format: VertexFormat::default(),
                mesh: kernel.mesh,
                influences: 4,
                layers: 1,
                morph: None,
            };
            let wgsl = kernel.shader(kind);
            let code = wgsl
                .lines()
                .map(|line| line.split("//").next().unwrap_or_default());
            let uses: Vec<_> = code
                .filter(|line| line.contains("INFLUENCES"))
                .map(str::trim)
                .collect();
            let known = ["override INFLUENCES: u32;", "if INFLUENCES > 4u {"];
            assert!(
                uses.len() > 1 && uses.iter().all(|line| known.contains(line)),
                "{}: {uses:?}",
                kernel.name
            );
        }
    }
}
