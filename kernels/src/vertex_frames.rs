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
        let normals = if format.normals == Normals::Exact {
            Normals::Exact
        } else {
            Normals::Raw
        };
        let plain = VertexFormat {
            normals,
            encoding: Encoding::F32,
            ..format
        };
        let (floats, row) = (format.floats(), mesh.vertex_count() * format.floats());
        let mut numbers = vec![0.0; palettes.len() / entries * row];
        for (palette, out) in palettes
            .chunks_exact(entries)
            .zip(numbers.chunks_exact_mut(row))
        {
            skin::skin(mesh, palette, plain, out);
        }
        let vertices = || numbers.chunks_exact(floats);
        let Bounds { min, max } = Bounds::around(vertices().map(Vec3::from_slice));
        let lengths = vertices().flat_map(|vertex| vertex[3..].iter().take(6));
        let longest = lengths.fold(0.0f32, |most, v| most.max(v.abs()));
        let centre: [f32; 3] = std::array::from_fn(|axis| min[axis].midpoint(max[axis]));
        let half = (0..3)
            .map(|axis| max[axis] - centre[axis])
            .fold(f32::MIN_POSITIVE, f32::max);
        let stored = |(at, &number): (usize, &f32)| match at {
            0..3 => (number - centre[at]) / half,
            3..9 if longest > 0.0 => number / longest,
            _ => number,
        };
        let mut words = Vec::with_capacity(numbers.len() / floats * Self::words_of(format));
        for vertex in vertices() {
            let mut stored = vertex.iter().enumerate().map(stored);
            while let Some(low) = stored.next() {
                words.push(pack(low, stored.next().unwrap_or(0.0)));
            }
        }
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
