//! Data of a posed crowd for gameplay: a box around each instance, and the poses of some joints, called *sockets*.
//!
//! Both are computed from palettes. A vertex is a weighted mean of the places that the palette's matrices give it, so it
//! lies within the box around the transformed boxes of all entries: the bounds are conservative, without reading a
//! vertex. A socket is a palette entry with its inverse bind matrix undone.

use crate::blocks::{Block, Blocks};
use crate::crowd::{BLOCK, Crowd, Group};
use crate::model::{self, Model, ModelError, Rows, affine_to_rows, rows_to_affine};
use crate::pose::{Affine, BlockPalettes, Palettes};
use crate::reference::shown;
use crate::simd::{self, Isa, Kernel, Scalar, Simd, abs, load_rows, store_rows};
use crate::threads::Threads;
use bytemuck::{Pod, Zeroable};

/// Distance by which boxes are larger than what they contain, over the diagonal of what a crowd shows: the error that
/// vertices are allowed against the reference. Where f32 numbers are too coarse for that, boxes grow by their rounding.
pub const MARGIN: f32 = 1e-5;

/// The box around the vertices that a palette entry moves, in the mesh's axes, as shaders read it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct EntryBox {
    /// Middle of the box.
    pub centre: [f32; 3],
    /// The palette entry.
    pub entry: u32,
    /// Half its lengths.
    pub half: [f32; 3],
}

/// A joint whose pose gameplay reads, as shaders read it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct Socket {
    /// Transform that turns the palette entry into the joint's model pose: the inverse of its inverse bind matrix.
    pub bind: Rows,
    /// The joint's palette entry.
    pub entry: u32,
    /// Pads to a multiple of 16 bytes.
    pub padding: [u32; 3],
}

/// Boxes and sockets of one model, from which a frame computes those of its instances.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelReads {
    /// One item per palette entry that moves vertices; empty if bounds are not read.
    pub boxes: Vec<EntryBox>,
    /// The sockets, in the order of their names.
    pub sockets: Vec<Socket>,
    /// Distance by which the box of an instance is larger than what it contains, in units of the model.
    pub margin: f32,
}

impl ModelReads {
    /// The boxes of a model if `bounds` are read, and the sockets at the joints of these names.
    ///
    /// # Errors
    /// Bounds of a mesh with morph targets, a name that no joint has, or a joint without a palette entry.
    pub fn new(model: &Model, bounds: bool, sockets: &[String]) -> Result<Self, ModelError> {
        let boxes = if bounds {
            entry_boxes(model)
        } else {
            Vec::new()
        };
        if bounds && !model.mesh().targets().is_empty() {
            let problem = "has morph targets, and their weights have no limit; expected a model without targets for bounds";
            return Err(ModelError::new(
                format!("model {:?}", model.name()),
                problem,
            ));
        }
        let socket = |name: &String| {
            let problem = |problem: &str| ModelError::new(format!("socket {name:?}"), problem);
            let joint = model
                .skeleton()
                .names()
                .iter()
                .position(|known| known == name);
            let joint = joint
                .ok_or_else(|| problem(&format!("{:?} has no joint of this name", model.name())))?;
            let entry = model
                .palette_joints()
                .iter()
                .position(|&known| usize::from(known) == joint);
            let entry = entry.ok_or_else(|| {
                problem("no vertex can follow the joint; expected a joint of the skin")
            })?;
            let bind = affine_to_rows(&rows_to_affine(&model.inverse_binds()[entry]).inverse());
            Ok(Socket {
                bind,
                entry: entry as u32,
                padding: [0; 3],
            })
        };
        Ok(Self {
            boxes,
            sockets: sockets.iter().map(socket).collect::<Result<_, _>>()?,
            margin: MARGIN * model.bounds().diagonal(),
        })
    }
}

/// The box around the vertices of each palette entry that moves any.
fn entry_boxes(model: &Model) -> Vec<EntryBox> {
    let own = |(entry, bounds): (u32, Option<model::Bounds>)| {
        let model::Bounds { min, max } = bounds?;
        Some(EntryBox {
            entry,
            centre: ((min + max) / 2.0).to_array(),
            half: ((max - min) / 2.0).to_array(),
        })
    };
    (0..).zip(model.entry_boxes()).filter_map(own).collect()
}

/// The choice of bounds and sockets for a crowd, with those of each of its models.
#[derive(Debug, Clone, PartialEq)]
pub struct Gameplay {
    /// One item per group.
    pub groups: Vec<ModelReads>,
    /// `true` if the bounds of each instance are read.
    pub bounds: bool,
    /// Sockets of each instance.
    pub sockets: usize,
}

impl Gameplay {
    /// Chooses bounds, and sockets by the names of joints, which every model must have.
    ///
    /// # Errors
    /// As [`ModelReads::new`].
    pub fn new(crowd: &Crowd, bounds: bool, sockets: &[String]) -> Result<Self, ModelError> {
        let groups = crowd.groups().iter().map(|group| {
            let shown = shown(crowd, group);
            let margin = (f64::from(MARGIN) * shown.diagonal).max(shown.rounding) as f32;
            let reads = ModelReads::new(&group.model, bounds, sockets)?;
            Ok(ModelReads { margin, ..reads })
        });
        Ok(Self {
            groups: groups.collect::<Result<_, _>>()?,
            bounds,
            sockets: sockets.len(),
        })
    }

    /// Bytes of [`GameplayData`] for this many instances.
    pub fn bytes(&self, instances: usize) -> u64 {
        let bounds = if self.bounds {
            instances * size_of::<Bounds>()
        } else {
            0
        };
        (bounds + instances * self.sockets * size_of::<Rows>()) as u64
    }
}

/// Least and greatest x, y and z of an instance's vertices, in model space.
pub type Bounds = [f32; 6];

/// Bounds and sockets of all instances in one frame.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GameplayData {
    /// One item per instance, or none if bounds are not read.
    pub bounds: Vec<Bounds>,
    /// `[instance][socket]`: model poses, three rows of four.
    pub sockets: Vec<Rows>,
}

impl GameplayData {
    /// Room for what is read of a crowd.
    pub fn new(crowd: &Crowd, gameplay: &Gameplay) -> Self {
        let instances = crowd.instance_count();
        Self {
            bounds: vec![[0.0; 6]; if gameplay.bounds { instances } else { 0 }],
            sockets: vec![[0.0; 12]; gameplay.sockets * instances],
        }
    }

    /// Computes the bounds of all instances; `blocks` are those that made the palettes.
    pub fn read_bounds(
        &mut self,
        isa: Isa,
        threads: &Threads,
        (crowd, gameplay): (&Crowd, &Gameplay),
        blocks: &Blocks,
        palettes: Palettes,
    ) {
        let first = |block: &Block| block.instances.start as usize;
        let out = &mut self.bounds[..];
        threads.install(|| {
            blocks.each(crowd, out, first, |block, group, out| {
                let reads = &gameplay.groups[block.group];
                match palettes.of(crowd, block) {
                    BlockPalettes::Rows(rows) => {
                        for (palette, out) in rows
                            .chunks_exact(group.model.palette_joints().len())
                            .zip(out)
                        {
                            let (lanes, out) =
                                (bytemuck::cast_slice(palette), bytemuck::cast_mut(out));
                            BoundsKernel::<1> { reads, lanes, out }.run::<1, Scalar>();
                        }
                    }
                    BlockPalettes::Lanes(lanes) => {
                        let mut rows = [[0.0; BLOCK]; 6];
                        simd::run(
                            isa,
                            BoundsKernel {
                                reads,
                                lanes,
                                out: &mut rows,
                            },
                        );
                        for (lane, out) in out.iter_mut().enumerate() {
                            *out = rows.map(|row| row[lane]);
                        }
                    }
                }
            });
        });
    }

    /// Computes the sockets of all instances, as [`GameplayData::read_bounds`].
    pub fn read_sockets(
        &mut self,
        threads: &Threads,
        (crowd, gameplay): (&Crowd, &Gameplay),
        blocks: &Blocks,
        palettes: Palettes,
    ) {
        let first = |block: &Block| block.instances.start as usize * gameplay.sockets;
        let out = &mut self.sockets[..];
        threads.install(|| {
            blocks.each(crowd, out, first, |block, group: &Group, out| {
                let sockets = &gameplay.groups[block.group].sockets;
                let (entries, palettes) = (
                    group.model.palette_joints().len(),
                    palettes.of(crowd, block),
                );
                for (lane, out) in out.chunks_exact_mut(sockets.len().max(1)).enumerate() {
                    for (out, socket) in out.iter_mut().zip(sockets) {
                        *out = socket_of(
                            socket,
                            &palettes.entry(entries, lane, socket.entry as usize),
                        );
                    }
                }
            });
        });
    }
}

/// The model pose of a socket's joint.
fn socket_of(socket: &Socket, palette: &Rows) -> Rows {
    let row = |row: usize, column: usize| {
        let sum: f32 = (0..3)
            .map(|i| palette[4 * row + i] * socket.bind[4 * i + column])
            .sum();
        sum + if column == 3 {
            palette[4 * row + 3]
        } else {
            0.0
        }
    };
    std::array::from_fn(|i| row(i / 4, i % 4))
}

/// Bounds of `N` instances side by side.
struct BoundsKernel<'a, const N: usize> {
    reads: &'a ModelReads,
    lanes: &'a [Affine<N>],
    /// Least x, y, z, then the greatest.
    out: &'a mut [[f32; N]; 6],
}

impl<const N: usize> Kernel for BoundsKernel<'_, N> {
    #[inline(always)] // to take on the caller's instruction set
    fn run<const W: usize, S: Simd<W>>(self) {
        let Self {
            reads: ModelReads { boxes, margin, .. },
            lanes,
            out,
        } = self;
        let margin = S::splat(*margin);
        for group in 0..N / W {
            let mut min = [S::splat(f32::INFINITY); 3];
            let mut max = [S::splat(f32::NEG_INFINITY); 3];
            for EntryBox {
                centre,
                entry,
                half,
            } in boxes
            {
                let m = &lanes[*entry as usize];
                let (c, h) = (centre.map(S::splat), half.map(S::splat));
                for (row, m) in m.as_chunks().0.iter().enumerate() {
                    let [x, y, z, t] = load_rows::<N, W, S, 4>(m, group);
                    let middle = S::mul_add(x, c[0], S::mul_add(y, c[1], S::mul_add(z, c[2], t)));
                    let [x, y, z] = [abs::<W, S>(x), abs::<W, S>(y), abs::<W, S>(z)];
                    let reach = S::mul_add(x, h[0], S::mul_add(y, h[1], S::mul(z, h[2])));
                    min[row] = S::min(min[row], S::sub(middle, reach));
                    max[row] = S::max(max[row], S::add(middle, reach));
                }
            }
            for (min, max) in min.iter_mut().zip(&mut max) {
                (*min, *max) = (S::sub(*min, margin), S::add(*max, margin));
            }
            store_rows::<N, W, S>(&min, &mut out[..3], group);
            store_rows::<N, W, S>(&max, &mut out[3..], group);
        }
    }
}
