//! Forms of skinned vertices in buffers.

use crate::shader::Role;
use skinbench_kernels::vertex::Encoding;

/// Form of skinned vertices in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputForm {
    /// Floats, vertex by vertex.
    Floats,
    /// Packed words, vertex by vertex.
    Packed,
    /// An instance's positions, then its normals, then its tangents, as floats.
    Streams,
}

impl OutputForm {
    /// All forms, so that tests can check their shaders.
    pub const ALL: [Self; 3] = [Self::Floats, Self::Packed, Self::Streams];

    /// The form of vertices one by one.
    pub fn of(encoding: Encoding) -> Self {
        match encoding {
            Encoding::F32 => Self::Floats,
            Encoding::Packed => Self::Packed,
        }
    }

    /// The files that write vertices of so many floats in a kernel.
    pub(crate) fn written_by(self, floats: usize) -> Vec<Role> {
        let elements = match self {
            Self::Floats if floats.is_multiple_of(2) => "elements_pairs.wgsl",
            Self::Floats => "elements_floats.wgsl",
            Self::Packed if floats == 3 => "elements_packed_positions.wgsl",
            Self::Packed if floats == 6 => "elements_packed_normals.wgsl",
            Self::Packed => "elements_packed_tangents.wgsl",
            Self::Streams => return vec![("output", "output_streams.wgsl")],
        };
        vec![("output", "store.wgsl"), ("elements", elements)]
    }

    /// The files that read the vertices of this frame and of the previous one where they are drawn.
    pub(crate) fn read_by(self) -> [&'static str; 2] {
        match self {
            Self::Floats => ["preskinned.wgsl", "previous.wgsl"],
            Self::Packed => ["preskinned_packed.wgsl", "previous_packed.wgsl"],
            // The last frame's vertices are kept by no backend that stores streams.
            Self::Streams => ["preskinned_streams.wgsl", "previous.wgsl"],
        }
    }

    /// Numbers per vertex of the streams that an instance's vertices are divided into, in their order; empty where they
    /// are stored vertex by vertex. A stream that begins beyond the last number is absent.
    pub fn streams(self) -> &'static [usize] {
        match self {
            Self::Floats | Self::Packed => &[],
            Self::Streams => &[3, 3, 4],
        }
    }

    /// Brings an instance that was read back into the order of vertices.
    pub fn sort(self, instance: &mut [f32], vertices: usize) {
        let stored = instance.to_vec();
        let floats = instance.len() / vertices.max(1);
        let mut first = 0;
        for &width in self.streams() {
            if first == floats {
                break;
            }
            let stream = stored[first * vertices..].chunks_exact(width);
            for (out, numbers) in instance.chunks_exact_mut(floats).zip(stream) {
                out[first..first + width].copy_from_slice(numbers);
            }
            first += width;
        }
    }
}
