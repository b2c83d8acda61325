//! What is known about an asset: its condition, its clause of the specification, and how its file is made.

use crate::arm;
use crate::gltf_file::GltfFile;

/// A file of the corpus: one condition.
pub struct Asset {
    /// Name of the file, without its ending.
    pub name: &'static str,
    /// The condition, and what follows from it.
    pub condition: &'static str,
    /// Anchor of the clause in the glTF 2.0 specification, or the name of an extension.
    pub clause: &'static str,
    /// A public report of an engine or exporter that went wrong here, as `owner/name#number`; may be empty.
    pub report: &'static str,
    /// What an engine may choose; empty if the specification leaves nothing open.
    pub open: &'static str,
    /// `true` if an engine need not support it by the specification, or if the file is not valid.
    pub optional: bool,
    /// Why the Khronos validator reports an error; empty for a valid file.
    pub invalid: &'static str,
    /// Animation that plays; `None` for the pose of the nodes.
    pub animation: Option<u32>,
    /// Times in seconds, each an exact f32.
    pub times: &'static [f32],
    /// Sum of a vertex's weights, if it is not 1.
    pub weight_sum: Option<fn(usize) -> f64>,
    /// Builds the file.
    pub build: fn() -> GltfFile,
}

impl Asset {
    /// An asset that plays the arm's animation.
    pub const fn new(
        name: &'static str,
        clause: &'static str,
        condition: &'static str,
        build: fn() -> GltfFile,
    ) -> Self {
        Self {
            name,
            condition,
            clause,
            report: "",
            open: "",
            optional: false,
            invalid: "",
            animation: Some(0),
            times: arm::MOMENTS,
            weight_sum: None,
            build,
        }
    }

    /// With a public report.
    pub const fn reported(self, report: &'static str) -> Self {
        Self { report, ..self }
    }

    /// With what an engine may choose.
    pub const fn open(self, open: &'static str) -> Self {
        Self { open, ..self }
    }

    /// With other times.
    pub const fn at(self, times: &'static [f32]) -> Self {
        Self { times, ..self }
    }

    /// In the pose of the nodes, without an animation.
    pub const fn at_rest(self) -> Self {
        Self {
            animation: None,
            times: &[0.0],
            ..self
        }
    }

    /// Name of its file, which was built: with the ending `glb` for a binary one, else `gltf`.
    pub fn file_name(&self, built: &GltfFile) -> String {
        let ending = if built.binary { "glb" } else { "gltf" };
        format!("{}.{ending}", self.name)
    }
}
