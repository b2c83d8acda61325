//! Parity: the agreement with the f64 reference that every backend must show before it is timed.

use super::single::shows;
use crate::backend::{Context, FrameData, Prepared, Skinned};
use crate::crowd::{Crowd, Group, Shown};
use crate::frame::{Approximation, FrameInput, OutputBuffers, Result, StageTimer};
use crate::frustum::Frustum;
#[cfg(feature = "gpu")]
use crate::gpu::Drawable;
use crate::model::rows_to_affine;
use crate::reference::{Blending, Deviation, ReferencePose, nan_max, shown};
use crate::vertex::{Attributes, Encoding, VertexFormat};
use rayon::prelude::*;
use std::ops::Range;
use strum::VariantArray;

/// Most bytes of vertices that are read back at once.
const RANGE_BYTES: usize = 256 << 20;
/// Fewest instances of a group that a sampled verification compares.
pub const SAMPLED: usize = 64;

/// Largest rounding of packed positions that the tolerance for their format includes: that of a cube of four diagonals.
const PACKING: f64 = 5.3e-5;

/// Largest differences from the reference that a backend is allowed. The diagonal is that of what a group shows
/// ([`Shown`]).
#[derive(Debug, Clone, Copy)]
pub struct Tolerance {
    /// Local poses: largest component of rotations, largest error over the diagonal of translations.
    pub sample: f64,
    /// Model poses, and matrices by the distance that they move the mesh: largest error over the diagonal.
    pub pose: f64,
    /// Skinned positions: largest error over the diagonal.
    pub position: f64,
    /// Normals and tangents: largest angle in radians.
    pub normal: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self {
            sample: 1e-5,
            pose: 1e-5,
            position: 1e-5,
            normal: 1e-3,
        }
    }
}

impl Tolerance {
    /// The tolerance for a vertex format. A packed position is off by up to half a step in each axis, together 5.3e-5
    /// of the diagonal, in addition to the tolerance of f32 paths. A packed normal is off by 1e-4 radians, well within
    /// the tolerance of all formats.
    pub fn of(format: VertexFormat) -> Self {
        match format.encoding {
            Encoding::F32 => Self::default(),
            Encoding::Packed => Self {
                position: 7e-5,
                ..Self::default()
            },
        }
    }

    /// The tolerance for a group, whose positions can be no closer than f32 numbers are where the group is, and, if they
    /// are packed, than the steps of its cube, and whose poses can be no closer than f32 numbers are on its curves and
    /// along its chains.
    pub fn of_group(self, group: &Group, shown: &Shown) -> Self {
        let beyond = match group.format.encoding {
            Encoding::F32 => 0.0,
            Encoding::Packed => group.model.mesh().cube().rounding(shown.diagonal) - PACKING,
        };
        let rounding = shown.relative_rounding() + 2.0 * shown.sampling;
        Self {
            sample: self.sample.max(shown.sampling),
            pose: self.pose.max(shown.turning),
            position: self.position.max(rounding) + beyond.max(0.0),
            ..self
        }
    }

    /// The tolerance of a backend that states its own error: the sum of both.
    pub fn beside(self, approximation: Option<Approximation>) -> Self {
        let Some(Approximation {
            pose,
            position,
            normal,
            ..
        }) = approximation
        else {
            return self;
        };
        Self {
            sample: self.sample + pose,
            pose: self.pose + pose,
            position: self.position + position,
            normal: self.normal + normal,
        }
    }
}

/// Ticks and instances to verify.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    /// Frames, as ticks.
    pub ticks: Vec<u32>,
    /// Neighbouring instances of one group each.
    pub instances: Vec<Range<u32>>,
    /// Instances outside this frustum may be left out.
    pub frustum: Frustum,
}

/// Up to `most` instances of a group, at least one, evenly spread from its first to its last.
pub fn spread(group: &Group, most: usize) -> impl Iterator<Item = u32> {
    let first = group.instances.start;
    let last = group.len() as u64 - 1;
    let count = group.len().min(most.max(1)) as u64;
    (0..count).map(move |i| first + (i * last / (count - 1).max(1)) as u32)
}

impl Coverage {
    /// Every instance, in ranges of at most 256 MiB of vertices.
    pub fn all(crowd: &Crowd, ticks: &[u32]) -> Self {
        let mut instances = Vec::new();
        for group in crowd.groups() {
            let at_once = (RANGE_BYTES / (group.instance_words() * size_of::<f32>())).max(1);
            for first in group.instances.clone().step_by(at_once) {
                let end = first.saturating_add(at_once as u32);
                instances.push(first..group.instances.end.min(end));
            }
        }
        Self {
            ticks: ticks.into(),
            instances,
            ..Self::default()
        }
    }

    /// At least 64 instances of each group, evenly spread from its first to its last (all if there are fewer), and the
    /// instances in `also`.
    pub fn sampled(crowd: &Crowd, ticks: &[u32], also: &[u32]) -> Self {
        let mut chosen: Vec<u32> = also.to_vec();
        for group in crowd.groups() {
            chosen.extend(spread(group, SAMPLED));
        }
        chosen.sort_unstable();
        chosen.dedup();
        Self {
            ticks: ticks.into(),
            instances: chosen.into_iter().map(|i| i..i + 1).collect(),
            ..Self::default()
        }
    }
}

/// Result of comparing a backend with the reference.
#[derive(Debug, Clone, Default)]
pub struct Parity {
    /// Largest position error over the diagonal of what its group shows, or that of poses if the backend computes no
    /// vertices; NaN if any error was NaN, `None` if nothing could be compared.
    pub max_rel: Option<f64>,
    /// Largest angle between normals or tangents in radians; NaN if any angle was NaN, `None` if none were compared.
    pub max_normal: Option<f64>,
    /// The largest tolerance that was applied: the requested one, and the backend's stated error.
    pub tolerance: Tolerance,
    /// Stated error of a backend that approximates.
    pub approximation: Option<Approximation>,
    /// Vertices compared.
    pub vertices: u64,
    /// Instances that the backend did not leave out in the last frame, if it leaves out any.
    pub visible: Option<u64>,
    /// The first failure and its place; `None` if everything agrees within the tolerance.
    pub failure: Option<String>,
}

/// Runs the frames of `coverage` on a prepared backend and compares poses, palettes and vertices with the reference.
/// Outputs are filled with NaN before each frame. If the crowd changes, the tick after each is compared too, without
/// outputs being filled. Instances that the backend leaves out must be outside the frustum.
/// The stated error of a backend that approximates adds to the tolerance; if it has no exact poses, only its vertices
/// are compared.
///
/// # Errors
/// Any error of `submit`, `finish` or read-back. Disagreement is not an error but a [`Parity::failure`].
pub fn verify(
    backend: &mut dyn Prepared,
    context: &Context,
    crowd: &Crowd,
    output: &mut OutputBuffers,
    coverage: &Coverage,
    tolerance: Tolerance,
) -> Result<Parity> {
    let mut comparison = Comparison::new(backend, crowd, tolerance);
    let mut timer = StageTimer::default();
    for &tick in &coverage.ticks {
        poison(backend, context, output)?;
        // Of a crowd that changes, the tick after each too, without anything having been filled: what changes must be
        // found, and what stays must still be there.
        let next = crowd.changes().then(|| tick.wrapping_add(1));
        for tick in [tick].into_iter().chain(next) {
            let ticket = backend.submit(
                &mut FrameInput {
                    crowd,
                    tick,
                    output,
                },
                &mut timer,
            )?;
            ticket.finish()?;
            if !comparison.add_frame(backend, crowd, output, coverage, tick)? {
                return Ok(comparison.parity);
            }
        }
    }
    Ok(comparison.parity)
}

/// Compares the vertices of a backend's last frame, or poses if it computes none, as they are, with the reference of
/// its tick. Returns the first failure; it names the tick of `earlier` that they belong to, if they belong to one.
///
/// `coverage` says which instances are compared; the backend's stated error adds to `tolerance`.
///
/// # Errors
/// Any error of read-back.
pub fn audit(
    backend: &mut dyn Prepared,
    crowd: &Crowd,
    output: &OutputBuffers,
    coverage: &Coverage,
    tick: u32,
    earlier: &[u32],
    tolerance: Tolerance,
) -> Result<Option<String>> {
    let mut what = "poses";
    let mut failure_at = |tick: u32| {
        let mut comparison = Comparison::new(backend, crowd, tolerance);
        if comparison.has_vertices() {
            what = "vertices";
            comparison.compared = vec![FrameData::Vertices];
        }
        comparison.add_frame(backend, crowd, output, coverage, tick)?;
        Ok(comparison.parity.failure)
    };
    let Some(failure) = failure_at(tick)? else {
        return Ok(None);
    };
    for &tick in earlier {
        if failure_at(tick)?.is_none() {
            return Ok(Some(format!(
                "{failure}; the {what} are those of tick {tick}"
            )));
        }
    }
    Ok(Some(failure))
}

/// Names of all [`FrameData`] in messages.
const NAMES: [&str; FrameData::VARIANTS.len()] =
    ["local poses", "model poses", "palettes", "vertices"];

/// A comparison of some frames with the reference.
struct Comparison {
    parity: Parity,
    /// The tolerance without stated errors.
    tolerance: Tolerance,
    compared: Vec<FrameData>,
    /// The crowd with another interpolation, of a backend that has its own.
    interpolated: Option<Crowd>,
    /// Numbers that were read back, one list for each [`FrameData`]; that of data which is not compared stays empty.
    read: [Vec<f32>; NAMES.len()],
}

impl Comparison {
    fn new(backend: &mut dyn Prepared, crowd: &Crowd, tolerance: Tolerance) -> Self {
        let approximation = backend.approximation();
        let mut compared = FrameData::VARIANTS.to_vec();
        let mut interpolated = None;
        if let Some(program) = backend.self_timed() {
            compared.retain(|what| program.has(*what));
            interpolated = Some(crowd.clone().with_rotation_blend(program.rotation_blend()));
        } else if approximation.is_some_and(|stated| stated.clip_error.is_some()) {
            // Poses with an error on purpose are not comparable.
            compared = vec![FrameData::Vertices];
        }
        let parity = Parity {
            tolerance: tolerance.beside(approximation),
            approximation,
            ..Parity::default()
        };
        Self {
            parity,
            tolerance,
            compared,
            interpolated,
            read: Default::default(),
        }
    }

    /// Returns whether vertices are compared, as they are of all but some programs of others.
    fn has_vertices(&self) -> bool {
        self.compared.contains(&FrameData::Vertices)
    }

    /// Compares the last frame of a backend, up to the first failure. Returns `false` if there is one.
    fn add_frame(
        &mut self,
        backend: &mut dyn Prepared,
        crowd: &Crowd,
        output: &OutputBuffers,
        coverage: &Coverage,
        tick: u32,
    ) -> Result<bool> {
        let blending = backend.blending();
        let visible = backend.visible()?;
        self.parity.visible = visible.as_ref().map(|visible| visible.len() as u64);
        for range in &coverage.instances {
            let group = &crowd.groups()[crowd.group_of(range.start)];
            let shown: Vec<u32> = range
                .clone()
                .filter(|instance| shows(visible.as_deref(), *instance))
                .collect();
            if let Some(visible) = visible.as_deref() {
                let left_out: Vec<u32> = range
                    .clone()
                    .filter(|instance| !shows(Some(visible), *instance))
                    .collect();
                self.parity.failure =
                    missing_instance(crowd, group, &coverage.frustum, &left_out, tick);
            }
            let sizes = self.read_back(backend, crowd, output, range, shown.len())?;
            if self.parity.failure.is_some() {
                return Ok(false);
            }
            let reference = self.interpolated.as_ref().unwrap_or(crowd);
            let shown_by_group = self::shown(reference, group);
            let corners = group.model.mesh().bounds().corners();
            let compared = shown
                .par_iter()
                .enumerate()
                .map(|(at, &instance)| {
                    let values = std::array::from_fn(|what| {
                        &self.read[what][at * sizes[what]..][..sizes[what]]
                    });
                    let pose = ReferencePose::new(reference, instance, tick);
                    Deviation::of(
                        group,
                        shown_by_group,
                        blending,
                        &corners,
                        &pose,
                        instance,
                        values,
                    )
                })
                .reduce(|| Deviation::NONE, Deviation::max);
            let allowed = self
                .tolerance
                .of_group(group, shown_by_group)
                .beside(backend.approximation());
            self.add(&compared, group, shown.len(), allowed);
            self.parity.failure = failure(&compared, tick, allowed);
            if self.parity.failure.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads back what is compared of neighbouring instances, of which so many are shown. Returns the size of an instance
    /// in each list; a list of another length is a failure.
    fn read_back(
        &mut self,
        backend: &mut dyn Prepared,
        crowd: &Crowd,
        output: &OutputBuffers,
        range: &Range<u32>,
        shown: usize,
    ) -> Result<[usize; NAMES.len()]> {
        let group = &crowd.groups()[crowd.group_of(range.start)];
        let mut sizes = [0; NAMES.len()];
        for &what in &self.compared {
            let at = what as usize;
            let read = &mut self.read[at];
            read.clear();
            backend.read(crowd, output, what, range.clone(), read)?;
            sizes[at] = what.numbers(group);
            let found = read.len();
            let expected = sizes[at] * shown;
            if found != expected && self.parity.failure.is_none() {
                self.parity.failure = Some(format!(
                    "{found} numbers of {} read back; expected {expected}",
                    NAMES[at]
                ));
            }
        }
        Ok(sizes)
    }

    /// Adds the deviation of the shown instances of a group.
    fn add(&mut self, compared: &Deviation, group: &Group, shown: usize, allowed: Tolerance) {
        let [poses @ .., position, normal] = compared.0.map(|worst| worst.error);
        let mut error = poses.into_iter().fold(0.0, nan_max);
        if self.has_vertices() {
            error = position;
            self.parity.vertices += (shown * group.model.mesh().vertex_count()) as u64;
        }
        self.parity.max_rel = Some(nan_max(self.parity.max_rel.unwrap_or(0.0), error));
        if self.has_vertices() && group.format.attributes != Attributes::P {
            let known = self.parity.max_normal.unwrap_or(0.0);
            self.parity.max_normal = Some(nan_max(known, normal));
        }
        let largest = &mut self.parity.tolerance.position;
        *largest = largest.max(allowed.position);
    }
}

/// Describes the first of some instances that were left out of which a vertex is in view, if any.
fn missing_instance(
    crowd: &Crowd,
    group: &Group,
    frustum: &Frustum,
    left_out: &[u32],
    tick: u32,
) -> Option<String> {
    let seen = |instance: u32| {
        let placement = rows_to_affine(crowd.placement_at(instance, tick));
        let pose = ReferencePose::new(crowd, instance, tick);
        (0..group.model.mesh().vertex_count()).find(|&vertex| {
            let skinned = pose.skin(&group.model, vertex, group.format.normals, Blending::Linear);
            frustum.contains(placement.transform_point3(skinned.position))
        })
    };
    let seen = left_out
        .par_iter()
        .filter_map(|&instance| Some((instance, seen(instance)?)));
    let (instance, vertex) = seen.min()?;
    Some(format!(
        "instance {instance} is left out at tick {tick}, with vertex {vertex} in view"
    ))
}

fn poison(backend: &dyn Prepared, context: &Context, output: &mut OutputBuffers) -> Result<()> {
    match backend.skinned() {
        Skinned::Host | Skinned::HostInBlocks => output.poison_host(),
        #[cfg(feature = "gpu")]
        Skinned::Device(drawable) => {
            let Some(gpu) = &context.gpu else {
                return Ok(());
            };
            output.lose();
            match drawable {
                Drawable::Output(_) => gpu.poison(&output.device)?,
                Drawable::Stored(vertices) => {
                    gpu.poison(&[&vertices.buffers[..], &vertices.previous].concat())?
                }
                // Reading vertices back clears the capture target to NaN.
                Drawable::Shader(_) => {}
            }
        }
    }
    #[cfg(not(feature = "gpu"))]
    let Context { isa: _, threads: _ } = context;
    Ok(())
}

fn failure(compared: &Deviation, tick: u32, tolerance: Tolerance) -> Option<String> {
    let Tolerance {
        sample,
        pose,
        position,
        normal,
    } = tolerance;
    // In the order of the stages: a wrong pose explains wrong vertices.
    let checks = [
        ("sample", "joint", sample),
        ("local_to_model", "joint", pose),
        ("palette", "entry", pose),
        ("position", "vertex", position),
        ("normal", "vertex", normal),
    ];
    // Not `>`: NaN must fail.
    let within =
        |error: f64, limit: f64| matches!(error.partial_cmp(&limit), Some(order) if order.is_le());
    let ((what, item, limit), worst) = checks
        .into_iter()
        .zip(compared.0)
        .find(|((.., limit), worst)| !within(worst.error, *limit))?;
    Some(format!(
        "{what} is off by {:.2e} (limit {limit:.0e}) at tick {tick}, instance {}, {item} {}",
        worst.error, worst.instance, worst.item
    ))
}
