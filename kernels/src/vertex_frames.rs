//! Skinned vertices of baked frames, 16 bits per number.
//!
//! Positions are relative to the cube around all frames. Normals and tangents keep their length, so that frames and
//! layers are averaged as their matrices are.

use crate::model::{Bounds, Mesh, Rows};
use crate::skin;
use crate::vertex::{Cube, Encoding, Normals, SNORM, VertexFormat, pack};
use glam::Vec3;

/// Vertices of some frames, as shaders/gpu_vat.wgsl reads them.
#[derive(Debug, Clone, PartialEq)]
pub struct VertexFrames {
    /// The cube around all positions.
    pub cube: Cube,
    /// Largest component of a normal or tangent.
    pub longest: f32,
    /// `[frame][vertex][word]`: two numbers per word, in the order of [`VertexFormat::floats`]. The last one may be
    /// alone.
    pub words: Vec<u32>,
}

impl VertexFrames {
    /// 32-bit words of a vertex.
    pub fn words_of(format: VertexFormat) -> usize {
        format.floats().div_ceil(2)
    }

    /// Skins a mesh by `[frame][entry]` palettes. Exact normals are stored as such, others before they are normalised.
    ///
    /// # Panics
    /// `palettes` is not a whole number of palettes of `entries` matrices, or these are too few for the mesh.
    pub fn new(mesh: &Mesh, format: VertexFormat, entries: usize, palettes: &[Rows]) -> Self {
        let matrices = palettes.len();
        assert!(
            matrices.is_multiple_of(entries),
            "{matrices} matrices; expected whole palettes of {entries}"
        );
        let mut plain = format;
        plain.encoding = Encoding::F32;
        if format.normals == Normals::Unit {
            plain.normals = Normals::Raw;
        }
        let floats = format.floats();
        let row = mesh.vertex_count() * floats;
        let mut vertices = vec![0.0; matrices / entries * row];
        for (palette, out) in palettes
            .chunks_exact(entries)
            .zip(vertices.chunks_exact_mut(row))
        {
            skin::skin(mesh, palette, plain, out);
        }
        let vertices = vertices.chunks_exact(floats);
        let Bounds { min, max } = Bounds::around(vertices.clone().map(Vec3::from_slice));
        let centre = min.midpoint(max);
        let half = (max - centre).max_element().max(f32::MIN_POSITIVE);
        let directions = vertices
            .clone()
            .flat_map(|vertex| vertex[3..].iter().take(6));
        let longest = directions.fold(0.0f32, |most, v| most.max(v.abs()));
        let mut words = Vec::with_capacity(vertices.len() * Self::words_of(format));
        for vertex in vertices {
            let mut stored = [0.0; 10];
            for (at, &number) in vertex.iter().enumerate() {
                stored[at] = match at {
                    0..3 => (number - centre[at]) / half,
                    3..9 if longest > 0.0 => number / longest,
                    _ => number,
                };
            }
            for [low, high] in &stored.as_chunks().0[..Self::words_of(format)] {
                words.push(pack(*low, *high));
            }
        }
        let centre = centre.to_array();
        Self {
            cube: Cube { centre, half },
            longest,
            words,
        }
    }

    /// Largest distance of a stored position from the one that was skinned: half a step on each axis.
    pub fn rounding(&self) -> f32 {
        0.5 * 3f32.sqrt() * self.cube.half / SNORM
    }
}
