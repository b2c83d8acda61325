//! The kernels that are written, and the values of their overrides.

use crate::Result;
use skinbench_gpu::forms::kind::ShaderVariant;
use skinbench_gpu::forms::morph::MorphForm;
use skinbench_gpu::forms::output::OutputForm;
use skinbench_gpu::passes::cull;
use skinbench_gpu::passes::pose_kernels::{BATCH_OF_ONE, PoseKernel};
use skinbench_gpu::passes::skin::{SkinKernel, ThreadLayout};
use skinbench_gpu::passes::skin_kernels::{INSTANCES, NAIVE};
use skinbench_gpu::passes::vertices::{draw_root, preskinned_shader};
use skinbench_gpu::{Gpu, MeshForm};
use skinbench_kernels::vertex::{Attributes, Encoding, VertexFormat};
use skinbench_shaders::layout::{self, WORKGROUP};

/// Workgroups of a dispatch that x and y share.
const FOLDED: &str = "x * y >= groups, z = 1";

/// A complete shader.
pub struct FlatKernel {
    /// Name of its files.
    pub name: &'static str,
    /// What it computes.
    pub does: &'static str,
    /// Its text, with a value of each override.
    pub wgsl: String,
    /// Workgroups of a dispatch; `None` for shaders that draw.
    pub dispatch: Option<DispatchRule>,
}

/// How many workgroups a dispatch has.
#[derive(serde::Serialize)]
pub struct DispatchRule {
    /// A number of workgroups.
    pub groups: String,
    /// How x, y and z follow from it. Each is at most 65535; workgroups that are too many do nothing.
    pub shape: String,
}

impl DispatchRule {
    fn folded(groups: impl Into<String>) -> Option<Self> {
        Some(Self {
            groups: groups.into(),
            shape: FOLDED.into(),
        })
    }
}

/// All of them.
///
/// # Errors
/// An override has no value.
pub fn all() -> Result<Vec<FlatKernel>> {
    let mut kernels = Vec::new();
    skin(&mut kernels)?;
    pose(&mut kernels)?;
    cull(&mut kernels)?;
    motion(&mut kernels)?;
    Ok(kernels)
}

fn skin(kernels: &mut Vec<FlatKernel>) -> Result<()> {
    let crowd = SkinKernel {
        mesh: MeshForm::Plain,
        ..INSTANCES
    };
    let floats = VertexFormat::default();
    let tangents = VertexFormat {
        attributes: Attributes::Pnt,
        ..floats
    };
    let packed = VertexFormat {
        encoding: Encoding::Packed,
        ..tangents
    };
    let rows = [
        (
            "skin_mesh",
            "Skins one mesh, or a few instances of it: positions and normals as floats.",
            &NAIVE,
            floats,
            None,
        ),
        (
            "skin_mesh_morphed",
            "As skin_mesh, with tangents and morph targets.",
            &NAIVE,
            tangents,
            Some(MorphForm::Sparse),
        ),
        (
            "skin_crowd",
            "Skins a crowd of one mesh: positions and normals as floats. A thread keeps its vertex for several instances.",
            &crowd,
            floats,
            None,
        ),
        (
            "skin_crowd_packed",
            "As skin_crowd, from vertices of 20 bytes to vertices of 16 bytes, with tangents.",
            &INSTANCES,
            packed,
            None,
        ),
    ];
    for (name, does, kernel, format, morph) in rows {
        let kind = ShaderVariant {
            format,
            mesh: kernel.mesh,
            // The most: a mesh with fewer says so in `chunk`.
            influences: 16,
            layers: 1,
            morph,
        };
        let dispatch = match kernel.threads {
            ThreadLayout::Vertex(_) => Some(DispatchRule {
                groups: format!("ceil(chunk.vertices / {WORKGROUP})"),
                shape: "x * z >= groups, y = ceil(chunk.instances / INSTANCES)".into(),
            }),
            _ => DispatchRule::folded(format!(
                "ceil(chunk.vertices * chunk.instances / {WORKGROUP})"
            )),
        };
        kernels.push(FlatKernel {
            name,
            does,
            wgsl: flat(name, &kernel.shader(kind), &kernel.constants(kind, false))?,
            dispatch,
        });
    }
    Ok(())
}

fn pose(kernels: &mut Vec<FlatKernel>) -> Result<()> {
    const EVERY_FORM: f64 = 1023.0;
    // Everything that a clip or a layer may need.
    let values = [
        ("AT_ONCE", 1.0),
        ("ROTATIONS", EVERY_FORM),
        ("TRANSLATIONS", EVERY_FORM),
        ("SCALES", EVERY_FORM),
        ("RIGID", 0.0),
        ("OWN_TIMES", 1.0),
        ("COMPACT", 1.0),
        ("INERTIA", 1.0),
        ("RATES", 1.0),
        ("MATRICES", 1.0),
    ];
    let rows = [
        (
            PoseKernel::Schedule,
            "pose_schedule",
            "First of five kernels that pose: clip positions and weights of each instance's layers at a tick.",
        ),
        (
            PoseKernel::Sample,
            "pose_sample",
            "Second: local poses of all slots, sampled from clips.",
        ),
        (
            PoseKernel::Blend,
            "pose_blend",
            "Third: blends an instance's slots to one local pose.",
        ),
        (
            PoseKernel::Levels,
            "pose_levels",
            "Fourth: local to model poses, one workgroup per instance.",
        ),
        (
            PoseKernel::Palette,
            "pose_palette",
            "Fifth: model poses times inverse bind matrices, which the skinning kernels read.",
        ),
    ];
    for (kernel, name, does) in rows {
        kernels.push(FlatKernel {
            name,
            does,
            wgsl: flat(name, &kernel.shader(BATCH_OF_ONE), &values)?,
            dispatch: DispatchRule::folded(groups(kernel)),
        });
    }
    Ok(())
}

/// The number of workgroups of a kernel that poses, in words.
fn groups(kernel: PoseKernel) -> String {
    // Numbers by which the rule's factors are recognised.
    const JOINTS: u32 = 7;
    const ENTRIES: u32 = 11;
    let posed = layout::PosedChunk {
        joints: JOINTS,
        entries: ENTRIES,
        ..bytemuck::Zeroable::zeroed()
    };
    let rule = kernel.dispatch(&Gpu::recording(), &posed);
    let counted = if rule.slots == 1 {
        "posed.slots"
    } else {
        "posed.instances"
    };
    let threads = match rule.threads {
        JOINTS => " * posed.joints",
        ENTRIES => " * posed.entries",
        _ => "",
    };
    match rule.workgroup {
        1 => format!("{counted}{threads}"),
        workgroup => format!("ceil({counted}{threads} / {workgroup})"),
    }
}

fn cull(kernels: &mut Vec<FlatKernel>) -> Result<()> {
    for (name, wgsl) in cull::shaders() {
        let (does, groups) = match name {
            "cull_count" => (
                "First of three kernels that find the instances in view: counts those of each workgroup.",
                format!("ceil(cull.instances / {WORKGROUP})"),
            ),
            "cull_scan" => (
                "Second: sums the counts, and computes the workgroups of later dispatches.",
                "1".into(),
            ),
            _ => (
                "Third: copies the instances in view to a contiguous range, in their order.",
                format!("ceil(cull.instances / {WORKGROUP})"),
            ),
        };
        kernels.push(FlatKernel {
            name,
            does,
            wgsl: flat(name, &wgsl, &[])?,
            dispatch: DispatchRule::folded(groups),
        });
    }
    Ok(())
}

fn motion(kernels: &mut Vec<FlatKernel>) -> Result<()> {
    let name = "draw_motion";
    let kind = ShaderVariant {
        format: VertexFormat::default(),
        mesh: MeshForm::Nothing,
        influences: 4,
        layers: 1,
        morph: None,
    };
    let wgsl = preskinned_shader(OutputForm::Floats, false, draw_root(true, false));
    kernels.push(FlatKernel {
        name,
        does: "Draws skinned vertices, with the motion of each pixel since the last frame, whose vertices are in another buffer.",
        wgsl: flat(name, &wgsl, &kind.constants())?,
        dispatch: None,
    });
    Ok(())
}

/// A complete shader without what only its assembly needs, and with values of its overrides.
fn flat(name: &str, wgsl: &str, values: &[(&'static str, f64)]) -> Result<String> {
    let mut flat = format!("// skinbench's {name}. Generated: see README.md.\n");
    let mut lines = wgsl.lines().peekable();
    while let Some(line) = lines.next() {
        let before_imports = line == "//"
            && lines
                .peek()
                .is_some_and(|next| next.starts_with("// import "));
        if before_imports || line.starts_with("// import ") {
            continue;
        }
        match line.strip_prefix("override ").and_then(undefined) {
            None => flat.push_str(line),
            Some(named) => {
                let value = values.iter().find(|known| known.0 == named);
                let (_, value) = value.ok_or_else(|| format!("{name}: {named} has no value"))?;
                flat.push_str(&format!("override {named}: u32 = {value};"));
            }
        }
        flat.push('\n');
    }
    Ok(flat)
}

/// The name of an override without a value.
fn undefined(declaration: &str) -> Option<&str> {
    declaration.strip_suffix(": u32;")
}
