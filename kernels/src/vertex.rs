//! Formats of skinned vertices.
//!
//! # Packed vertices
//! [`Encoding::Packed`] takes 8 bytes for `p`, 12 for `pn`, 16 for `pnt`: one little-endian 32-bit word for each pair
//! of 16-bit numbers. A number is *snorm16*: the integer `n` in -32767..=32767, rounded to nearest, stands for
//! `n / 32767`; -32768 does not occur.
//!
//! | word | bits 0 to 15 | bits 16 to 31 | in |
//! | --- | --- | --- | --- |
//! | 0 | position x | position y | all |
//! | 1 | position z | the tangent's handedness for `pnt`, else 0 | all |
//! | 2 | normal u | normal v | `pn`, `pnt` |
//! | 3 | tangent u | tangent v | `pnt` |
//!
//! A position is `centre + half * (x, y, z)` of the mesh's [`Cube`], so that decoding can be folded into the
//! placement's matrix; positions outside the cube are clamped to its faces. Directions are octahedral (Cigolle and
//! others 2014): with `d = v / (|v.x| + |v.y| + |v.z|)`, `(u, v)` is `d.xy` if `d.z >= 0`, otherwise `(1 - |d.yx|) *
//! sign(d.xy)`, where sign(0) is 1; a zero vector is (0, 0). They have no length: `raw` and `unit` normals are packed
//! identically. As vertex attributes, words 0 and 1 are `snorm16x4`, words 2 and 3 `snorm16x2`.

use glam::Vec3;

/// Square of the length below which a normal or tangent is divided by the root of this, 2^-52, instead of by its length:
/// it shrinks to zero, as that of a joint scaled to nothing. f32 numbers have no squares of much shorter ones, and dual
/// quaternions no scales. The shaders and the reference have the same rule.
pub(crate) const VANISHING: f32 = 4.930_380_7e-32;

/// Largest integer of a snorm16.
pub(crate) const SNORM: f32 = 32_767.0;

/// Attributes that are skinned; by default position and normal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum Attributes {
    /// Position: 3 floats.
    P,
    /// Position and normal: 6 floats.
    #[default]
    Pn,
    /// Position, normal, tangent with its handedness: 10 floats.
    Pnt,
}

impl Attributes {
    /// All of them, the fewest first.
    pub const ALL: [Self; 3] = [Self::P, Self::Pn, Self::Pnt];

    /// Name on the command line and in CSV.
    pub fn name(self) -> &'static str {
        match self {
            Self::P => "p",
            Self::Pn => "pn",
            Self::Pnt => "pnt",
        }
    }
}

/// Treatment of normals and tangents after the transform; by default unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum Normals {
    /// `normalise(sum w * M3x3 * n)`. Below a length of 2^-52 it shrinks to zero.
    #[default]
    Unit,
    /// `sum w * M3x3 * n`, to be normalised by the pixel shader.
    Raw,
    /// `normalise(cofactor(sum w * M3x3) * n)`: perpendicular under non-uniform scale too. Tangents as
    /// [`Normals::Unit`].
    Exact,
}

impl Normals {
    /// All of them, the default first.
    pub const ALL: [Self; 3] = [Self::Unit, Self::Raw, Self::Exact];

    /// Name on the command line and in CSV.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unit => "unit",
            Self::Raw => "raw",
            Self::Exact => "exact",
        }
    }
}

/// Storage of a skinned vertex's values; by default as floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Encoding {
    /// One `f32` each.
    #[default]
    F32,
    /// 16 bits each, directions octahedral: see the module's documentation.
    Packed,
}

impl Encoding {
    /// Name on the command line and in CSV.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Packed => "packed",
        }
    }
}

/// Layout and meaning of a skinned vertex. The default is position and unit normal, six floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct VertexFormat {
    /// The attributes.
    pub attributes: Attributes,
    /// Treatment of normals.
    pub normals: Normals,
    /// Storage of the values.
    pub encoding: Encoding,
}

impl VertexFormat {
    /// Floats per vertex: position x y z, normal x y z, tangent x y z w, as far as the attributes go.
    pub fn floats(self) -> usize {
        match self.attributes {
            Attributes::P => 3,
            Attributes::Pn => 6,
            Attributes::Pnt => 10,
        }
    }

    /// 32-bit words that a stored vertex takes.
    pub fn words(self) -> usize {
        match (self.encoding, self.attributes) {
            (Encoding::F32, _) => self.floats(),
            (Encoding::Packed, Attributes::P) => 2,
            (Encoding::Packed, Attributes::Pn) => 3,
            (Encoding::Packed, Attributes::Pnt) => 4,
        }
    }

    /// Bytes that a stored vertex takes.
    pub fn bytes(self) -> u64 {
        (self.words() * size_of::<f32>()) as u64
    }

    /// A stored vertex's attributes, in the order of [`VertexFormat::floats`]; `words` are its [`VertexFormat::words`]
    /// words, as the bits of floats. Packed words that no kernel can have written, such as NaN poison, decode to NaN.
    pub fn decode(self, cube: &Cube, words: &[f32]) -> [f32; 10] {
        let mut vertex = [0.0; 10];
        if self.encoding == Encoding::F32 {
            vertex[..words.len()].copy_from_slice(words);
            return vertex;
        }
        let [x, y] = unpack(words[0]);
        let [z, w] = unpack(words[1]);
        for (axis, coordinate) in [x, y, z].into_iter().enumerate() {
            vertex[axis] = cube.centre[axis] + cube.half * coordinate;
        }
        if w != 0.0 && (self.attributes < Attributes::Pnt || w.abs() != 1.0) {
            vertex = [f32::NAN; 10];
        }
        if self.attributes >= Attributes::Pn {
            vertex[3..6].copy_from_slice(&direction(unpack(words[2])));
        }
        if self.attributes >= Attributes::Pnt {
            vertex[6..9].copy_from_slice(&direction(unpack(words[3])));
            vertex[9] = w;
        }
        vertex
    }
}

/// The cube that packed positions are relative to: around the mesh at rest, and large enough for most poses. A crowd whose
/// poses are larger, much smaller or farther away has another one ([`crate::reference::with_fitting_cubes`]).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Cube {
    /// Its middle.
    pub centre: [f32; 3],
    /// Half the length of an edge.
    pub half: f32,
}

impl Cube {
    /// Half an edge in diagonals of the box: clips may move a character this far. A step of the encoding is then 6e-5 of
    /// the diagonal.
    const REACH: f32 = 2.0;

    /// Largest distance of a packed position from its own, over a diagonal: half a step on each of three axes.
    pub fn rounding(&self, diagonal: f64) -> f64 {
        0.5 * 3f64.sqrt() * f64::from(self.half) / f64::from(SNORM) / diagonal
    }

    /// The cube around a box.
    pub fn around(min: [f32; 3], max: [f32; 3]) -> Self {
        let diagonal = Vec3::from(min).distance(max.into());
        let half = if diagonal > 0.0 {
            Self::REACH * diagonal
        } else {
            1.0
        };
        Self {
            centre: std::array::from_fn(|c| min[c].midpoint(max[c])),
            half,
        }
    }
}

/// Two numbers of -1 to 1 as snorm16 in one word.
pub fn pack(low: f32, high: f32) -> u32 {
    snorm(low) | snorm(high) << 16
}

fn snorm(number: f32) -> u32 {
    (number.clamp(-1.0, 1.0) * SNORM).round_ties_even() as i32 as u32 & 0xffff
}

/// A direction's octahedral coordinates.
pub fn octahedral([x, y, z]: [f32; 3]) -> [f32; 2] {
    let sum = x.abs() + y.abs() + z.abs();
    if sum == 0.0 {
        return [0.0; 2];
    }
    let unfolded = [x / sum, y / sum];
    if z >= 0.0 { unfolded } else { folded(unfolded) }
}

/// Coordinates of the other side of the octahedron's edge.
fn folded([u, v]: [f32; 2]) -> [f32; 2] {
    [(1.0 - v.abs()).copysign(u), (1.0 - u.abs()).copysign(v)]
}

fn unpack(word: f32) -> [f32; 2] {
    let bits = word.to_bits();
    [bits as u16, (bits >> 16) as u16].map(|half| f32::from(half as i16) / SNORM)
}

fn direction([u, v]: [f32; 2]) -> [f32; 3] {
    let z = 1.0 - u.abs() - v.abs();
    let [x, y] = if z >= 0.0 { [u, v] } else { folded([u, v]) };
    let length = (x * x + y * y + z * z).sqrt();
    [x / length, y / length, z / length]
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKED: VertexFormat = VertexFormat {
        attributes: Attributes::Pnt,
        normals: Normals::Unit,
        encoding: Encoding::Packed,
    };

    #[test]
    fn directions_survive_packing() {
        let steps = || (-20..=20).map(|i| i as f32 / 20.0);
        for (x, y, z) in
            steps().flat_map(|x| steps().flat_map(move |y| steps().map(move |z| (x, y, z))))
        {
            let length = (x * x + y * y + z * z).sqrt();
            if length > 0.0 {
                let [u, v] = octahedral([x, y, z]);
                let got = direction(unpack(f32::from_bits(pack(u, v))));
                let chord = [x, y, z]
                    .iter()
                    .zip(got)
                    .map(|(a, b)| (a / length - b).powi(2))
                    .sum::<f32>()
                    .sqrt();
                assert!(chord < 1e-4, "{x} {y} {z}: off by {chord}");
            }
        }
        assert_eq!(octahedral([0.0; 3]), [0.0; 2]);
    }

    #[test]
    fn positions_survive_packing_and_poison_does_not() {
        let cube = Cube::around([-1.0, 0.0, -1.0], [1.0, 2.0, 1.0]);
        assert_eq!(cube.centre, [0.0, 1.0, 0.0]);
        let at = |p: [f32; 3]| std::array::from_fn(|c| (p[c] - cube.centre[c]) / cube.half);
        let [x, y, z]: [f32; 3] = at([0.3, 1.9, -0.8]);
        let words = [pack(x, y), pack(z, -1.0), pack(0.0, 0.0), pack(1.0, 0.0)].map(f32::from_bits);
        let vertex = PACKED.decode(&cube, &words);
        let step = cube.half / 32767.0;
        for (got, want) in vertex.iter().zip([0.3, 1.9, -0.8]) {
            assert!(
                (got - want).abs() <= step / 2.0 * 1.01,
                "{got} instead of {want}"
            );
        }
        assert_eq!(vertex[3..], [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, -1.0]);
        assert!(PACKED.decode(&cube, &[f32::NAN; 4])[0].is_nan());
        let pn = VertexFormat {
            attributes: Attributes::Pn,
            ..PACKED
        };
        assert!(
            pn.decode(&cube, &words[..3])[0].is_nan(),
            "a word of pnt where pn keeps 0"
        );
    }
}
