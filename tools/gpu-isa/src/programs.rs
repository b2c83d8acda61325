//! Every pipeline that the product creates for frames that it measures, in every form that changes its machine code.

use crate::radv::Stages;
use skinbench::bake::MOST_LAYERS;
use skinbench::characters::walker;
use skinbench::gpu::forms::kind::{ShaderVariant, vertex_shader};
use skinbench::gpu::forms::output::OutputForm;
use skinbench::gpu::kernel::Constants;
use skinbench::gpu::passes::bake;
use skinbench::gpu::passes::cull;
use skinbench::gpu::passes::pose_kernels;
use skinbench::gpu::passes::skin::ThreadLayout;
use skinbench::gpu::passes::update::{self, Record};
use skinbench::gpu::passes::vertices::{draw_root, preskinned_shader};
use skinbench::gpu::{MeshForm, PaletteForm};
use skinbench::registry::{skin_kernels, vertex_forms};
use skinbench::vertex::{Attributes, Encoding, VertexFormat};

/// Most influences of a vertex: pipelines differ only in whether that is more than four.
pub const INFLUENCES: [u32; 2] = [4, 16];

const ATTRIBUTES: [Attributes; 3] = [Attributes::P, Attributes::Pn, Attributes::Pnt];
const ENCODINGS: [Encoding; 2] = [Encoding::F32, Encoding::Packed];

/// A pipeline.
pub struct Program {
    pub name: String,
    /// Variant among several pipelines of that name; empty if there is only one.
    pub variant: &'static str,
    /// Forms of mesh and vertex, and most influences, where the pipeline skins or reads skinned vertices.
    pub kind: Option<ShaderVariant>,
    pub wgsl: String,
    pub constants: Constants,
    /// The binding whose offset is given when it is bound.
    pub dynamic: Option<&'static str>,
    pub stages: Stages,
    /// Distribution of skinning over threads; `None` for pipelines that do not skin, and for vertex shaders whose loops
    /// over more than four influences the compiler mixes with those of culling.
    pub threads: Option<ThreadLayout>,
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
    let mut listed = Vec::new();
    for program in all()? {
        let mut constants = serde_json::Map::new();
        for (name, value) in program.constants {
            constants.insert(name.to_owned(), value.into());
        }
        let [vertex, fragment] = match program.stages {
            Stages::Compute => [None, None],
            Stages::Depth => [Some("vertex"), None],
            Stages::Color => [Some("vertex"), Some("fragment")],
            Stages::Motion => [Some("vertex_motion"), Some("fragment_motion")],
        };
        listed.push(serde_json::json!({
            "name": program.name, "variant": program.variant, "wgsl": program.wgsl, "constants": constants,
            "vertex": vertex, "fragment": fragment,
        }));
    }
    Ok(serde_json::to_string(&listed)?)
}

fn formats() -> Vec<VertexFormat> {
    let mut formats = Vec::new();
    for attributes in ATTRIBUTES {
        for encoding in ENCODINGS {
            formats.push(VertexFormat {
                attributes,
                encoding,
                ..VertexFormat::default()
            });
        }
    }
    formats
}

/// Each of some forms with each number of influences.
fn with_influences<T: Copy>(forms: Vec<T>) -> Vec<(T, u32)> {
    let mut found = Vec::new();
    for form in forms {
        for influences in INFLUENCES {
            found.push((form, influences));
        }
    }
    found
}

fn skin(programs: &mut Vec<Program>) -> crate::Result<()> {
    for kernel in skin_kernels() {
        let name = match kernel.palette {
            PaletteForm::Baked(_) => format!("gpu-baked:compute, {}", kernel.name),
            _ => format!("gpu-compute:{}", kernel.name),
        };
        for (format, influences) in with_influences(formats()) {
            let kind = ShaderVariant {
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
                constants: kernel.constants(kind, true),
                // The instance of a dispatch per character.
                dynamic: Some("character"),
                stages: Stages::Compute,
                threads: Some(kernel.threads),
            });
        }
    }
    Ok(())
}

/// A compute pipeline that does not skin.
fn compute(name: &str, variant: &'static str, wgsl: String, constants: Constants) -> Program {
    Program {
        name: name.to_owned(),
        variant,
        kind: None,
        wgsl,
        constants,
        dynamic: None,
        stages: Stages::Compute,
        threads: None,
    }
}

fn pose(programs: &mut Vec<Program>) -> crate::Result<()> {
    let model = walker(1_000)?;
    for kernel in pose_kernels::KERNELS {
        for (variant, plain) in [("one layer", true), ("all features", false)] {
            let constants = kernel.constants_on_hardware(&model, plain);
            programs.push(compute(
                kernel.name(),
                variant,
                kernel.shader(pose_kernels::BATCH_OF_ONE),
                constants,
            ));
        }
    }
    for (name, wgsl) in cull::shaders() {
        programs.push(compute(name, "", wgsl, Vec::new()));
    }
    for (what, width) in [("one layer", 1), ("several layers", MOST_LAYERS as u32)] {
        programs.push(compute(
            "pose_baked",
            what,
            bake::shader(),
            bake::constants(width),
        ));
    }
    for (what, record) in [("layers", Record::Layer), ("places", Record::Placement)] {
        programs.push(compute(
            "update",
            what,
            update::shader(),
            record.constants(),
        ));
    }
    Ok(())
}

fn draw(programs: &mut Vec<Program>) {
    let passes = [("depth", Stages::Depth), ("color", Stages::Color)];
    for (name, mesh, palette) in vertex_forms() {
        let wgsl = vertex_shader(mesh, palette, None, draw_root(false, false));
        // A vertex shader writes plain floats, and drawing reads no tangents.
        for (attributes, influences) in with_influences(vec![Attributes::P, Attributes::Pn]) {
            // Baked vertices have none.
            if mesh == MeshForm::Nothing && influences > 4 {
                continue;
            }
            let kind = ShaderVariant {
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
                });
            }
        }
    }
    for (name, merged) in [("draw", false), ("draw, merged", true)] {
        for format in formats() {
            let kind = ShaderVariant {
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
        for kernel in skin_kernels() {
            let kind = ShaderVariant {
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
