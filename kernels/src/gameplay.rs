//! Data of a posed crowd for gameplay: a box around each instance, and the poses of some joints, called *sockets*.
//!
//! Both are computed from palettes. A vertex is a weighted mean of the places that the palette's matrices give it, so it
//! lies within the box around the transformed boxes of all entries: the bounds are conservative, without reading a
//! vertex. A socket is a palette entry with its inverse bind matrix undone.

use crate::blocks::{Block, Blocks};
use crate::crowd::{BLOCK, Crowd};
use crate::error::DataError;
use crate::model::{self, Model, Rows, affine_to_rows, rows_to_affine};
use crate::pose::{Affine, BlockPalettes, Palettes};
use crate::reference::shown;
use crate::simd::{self, Isa, Kernel, Simd};
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
    pub fn new(model: &Model, bounds: bool, sockets: &[String]) -> Result<Self, DataError> {
        let mut boxes = Vec::new();
        if bounds {
            if !model.mesh().targets().is_empty() {
                return Err(DataError::new(
                    format!("model {:?}", model.name()),
                    "has morph targets, and their weights have no limit; expected a model without targets for bounds",
                ));
            }
            boxes = entry_boxes(model);
        }
        let sockets: Result<_, _> = sockets.iter().map(|name| socket(model, name)).collect();
        Ok(Self {
            boxes,
            sockets: sockets?,
            margin: MARGIN * model.bounds().diagonal(),
        })
    }
}

/// The socket at the joint of this name.
fn socket(model: &Model, name: &str) -> Result<Socket, DataError> {
    let place = format!("socket {name:?}");
    let names = model.skeleton().names();
    let Some(joint) = names.iter().position(|other| other == name) else {
        let problem = format!("{:?} has no joint of this name", model.name());
        return Err(DataError::new(place, problem));
    };
    let joints = model.palette_joints();
    let Some(entry) = joints.iter().position(|&other| usize::from(other) == joint) else {
        let problem = "no vertex can follow the joint; expected a joint of the skin";
        return Err(DataError::new(place, problem));
    };
    Ok(Socket {
        bind: affine_to_rows(&rows_to_affine(&model.inverse_binds()[entry]).inverse()),
        entry: entry as u32,
        padding: [0; 3],
    })
}

/// The box around the vertices of each palette entry that moves any.
fn entry_boxes(model: &Model) -> Vec<EntryBox> {
    let mut boxes = Vec::new();
    for (entry, bounds) in (0..).zip(model.entry_boxes()) {
        if let Some(model::Bounds { min, max }) = bounds {
            boxes.push(EntryBox {
                entry,
                centre: ((min + max) / 2.0).to_array(),
                half: ((max - min) / 2.0).to_array(),
            });
        }
    }
    boxes
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
    pub fn new(crowd: &Crowd, bounds: bool, sockets: &[String]) -> Result<Self, DataError> {
        let mut groups = Vec::with_capacity(crowd.groups().len());
        for group in crowd.groups() {
            let mut reads = ModelReads::new(&group.model, bounds, sockets)?;
            let shown = shown(crowd, group);
            reads.margin = (f64::from(MARGIN) * shown.diagonal).max(shown.rounding) as f32;
            groups.push(reads);
        }
        Ok(Self {
            groups,
            bounds,
            sockets: sockets.len(),
        })
    }

    /// Bytes of [`GameplayData`] for this many instances.
    pub fn bytes(&self, instances: usize) -> u64 {
        let mut bytes = self.sockets * size_of::<Rows>();
        if self.bounds {
            bytes += size_of::<Bounds>();
        }
        (instances * bytes) as u64
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

    /// Computes the bounds of all instances, on rayon's current pool if the blocks are parallel; `blocks` are those that
    /// made the palettes.
    pub fn read_bounds(
        &mut self,
        isa: Isa,
        crowd: &Crowd,
        gameplay: &Gameplay,
        blocks: &Blocks,
        palettes: Palettes,
    ) {
        blocks.each(
            crowd,
            &mut self.bounds,
            first_instance,
            |block, _, bounds| {
                let reads = &gameplay.groups[block.group];
                match palettes.of(block) {
                    BlockPalettes::Rows(rows) => {
                        for (palette, out) in rows.chunks_exact(block.entries).zip(bounds) {
                            let lanes = bytemuck::cast_slice(palette);
                            let out = bytemuck::cast_mut(out);
                            BoundsKernel::<1> { reads, lanes, out }.run::<1, f32>();
                        }
                    }
                    BlockPalettes::Lanes(lanes) => {
                        let mut rows = [[0.0; BLOCK]; 6];
                        let out = &mut rows;
                        simd::run(isa, BoundsKernel { reads, lanes, out });
                        for (lane, out) in bounds.iter_mut().enumerate() {
                            *out = rows.map(|row| row[lane]);
                        }
                    }
                }
            },
        );
    }

    /// Computes the sockets of all instances, as [`GameplayData::read_bounds`].
    pub fn read_sockets(
        &mut self,
        crowd: &Crowd,
        gameplay: &Gameplay,
        blocks: &Blocks,
        palettes: Palettes,
    ) {
        let count = gameplay.sockets;
        let out = &mut self.sockets[..];
        blocks.each(
            crowd,
            out,
            |block| first_instance(block) * count,
            |block, _, out| {
                let palettes = palettes.of(block);
                for (lane, out) in out.chunks_exact_mut(count.max(1)).enumerate() {
                    for (out, socket) in out.iter_mut().zip(&gameplay.groups[block.group].sockets) {
                        let palette = palettes.entry(block.entries, lane, socket.entry as usize);
                        *out = socket_of(socket, &palette);
                    }
                }
            },
        );
    }
}

fn first_instance(block: &Block) -> usize {
    block.instances.start as usize
}

/// The model pose of a socket's joint.
fn socket_of(socket: &Socket, palette: &Rows) -> Rows {
    let mut pose = [0.0; 12];
    for (row, m) in pose
        .as_chunks_mut::<4>()
        .0
        .iter_mut()
        .zip(palette.as_chunks::<4>().0)
    {
        let [x, y, z, translation] = *m;
        *row = std::array::from_fn(|column| {
            let sum =
                x * socket.bind[column] + y * socket.bind[4 + column] + z * socket.bind[8 + column];
            sum + if column == 3 { translation } else { 0.0 }
        });
    }
    pose
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
    fn run<const W: usize, V: Simd<W>>(self) {
        let Self {
            reads: ModelReads { boxes, margin, .. },
            lanes,
            out,
        } = self;
        let margin = V::splat(*margin);
        for vector in 0..N / W {
            let mut min = [V::splat(f32::INFINITY); 3];
            let mut max = [V::splat(f32::NEG_INFINITY); 3];
            for EntryBox {
                centre,
                entry,
                half,
            } in boxes
            {
                let m = &lanes[*entry as usize];
                let c = centre.map(V::splat);
                let h = half.map(V::splat);
                for (row, m) in m.as_chunks().0.iter().enumerate() {
                    let [x, y, z, t] = V::load_rows(m, vector);
                    let middle = x.mul_add(c[0], y.mul_add(c[1], z.mul_add(c[2], t)));
                    let [x, y, z] = [x.abs(), y.abs(), z.abs()];
                    let reach = x.mul_add(h[0], y.mul_add(h[1], z * h[2]));
                    min[row] = min[row].min(middle - reach);
                    max[row] = max[row].max(middle + reach);
                }
            }
            for (min, max) in min.iter_mut().zip(&mut max) {
                *min = *min - margin;
                *max = *max + margin;
            }
            V::store_rows(&min, &mut out[..3], vector);
            V::store_rows(&max, &mut out[3..], vector);
        }
    }
}
