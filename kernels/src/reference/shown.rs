//! Sizes and places of what a crowd shows, found on a sample of its instances and ticks.

use super::ReferencePose;
use crate::crowd::{Crowd, Fade, Group, JointShown, Layer, Shown};
use crate::model::{Bounds, Clip, IDENTITY_ROWS, Model, NO_PARENT};
use crate::vertex::{Cube, Encoding};
use glam::{DVec3, Vec3};
use std::sync::Arc;

/// Poses that are looked at in each group: at most, and at least however many joints they have.
const POSES: usize = 256;
const FEWEST_POSES: usize = 16;
/// Joints of all these poses together.
const JOINTS: usize = 1 << 15;
/// Vertices of each pose at most.
const VERTICES: usize = 1 << 12;
/// Instances among which the poses are taken in turn.
const INSTANCES: usize = 64;
/// Ticks from one pose to the next: without a common divisor with the periods of clips and schedules.
const TICK_STRIDE: u32 = 10_007;
/// Factor by which the diagonals of the rest pose and of the largest pose shown may differ for the rest pose to stand
/// for both. Figures of ordinary characters then do not depend on what they happen to play.
const SIMILAR: f64 = 2.0;
/// Roundings of a vertex besides those of each joint above it and of each of its influences: of its clip's two keys, of
/// the palette entry and of the last sum.
const MORE_ROUNDINGS: f64 = 4.0;
/// Bound of the error that each joint of a chain adds to rotations in model space: those of interpolation, 3e-7 in
/// shaders, and of a product of matrices.
const JOINT_ROUNDING: f64 = 5e-7;
/// Cubic curves of rotations that are shorter round visibly, and the roundings of a point on them.
const SHORT_CURVE: f64 = 0.1;
const CURVE_ROUNDINGS: f64 = 4.0;
/// Bound of the error that each tick of an inertial fade adds to rotations: 6e-7 of a difference between the old pose and the
/// new one, as shaders sample them, times 0.75. At any tick of a fade, the offset and twice the speed come to at most so much
/// over the length of the sum, which is no shorter than the offset: differences have w >= 0 and lie in one hemisphere.
const FADE_ROUNDING: f64 = 4.5e-7;
/// Half the edge of a cube for packed positions, over half the largest extent shown: other ticks may show more.
const CUBE_MARGIN: f32 = 1.25;
/// Times of each clip at which [`clip_bounds`] poses a model.
const CLIP_TIMES: usize = 16;

/// The extent of what a group of the crowd shows, computed at the first call.
pub fn shown<'a>(crowd: &Crowd, group: &'a Group) -> &'a Shown {
    group.shown.get_or_init(|| measured(crowd, group))
}

/// The box of a character that plays some of a model's clips, as [`Shown::bounds`].
pub fn clip_bounds(model: &Arc<Model>, clips: &[u32]) -> Bounds {
    let mut held = Vec::new();
    for &clip in clips {
        let duration = model.clips().get(clip as usize).map_or(0.0, Clip::duration);
        for index in 0..CLIP_TIMES {
            let time = duration * index as f32 / (CLIP_TIMES - 1) as f32;
            held.push((IDENTITY_ROWS, [Layer::held(clip, time)]));
        }
    }
    let mut crowd = Crowd::new();
    match crowd.push_group(Arc::clone(model), held) {
        Ok(()) => shown(&crowd, &crowd.groups()[0]).bounds,
        // Without a clip, or with one of differences, the rest pose is all there is.
        Err(_) => model.bounds(),
    }
}

/// The crowd with a cube for packed positions around what each of its groups shows, where the cube around the rest pose
/// is too small, or twice as large as it need be. A crowd whose vertices are not packed stays as it is.
#[must_use]
pub fn with_fitting_cubes(mut crowd: Crowd) -> Crowd {
    if crowd.format().encoding != Encoding::Packed {
        return crowd;
    }
    for index in 0..crowd.groups().len() {
        let group = &crowd.groups()[index];
        let shown = shown(&crowd, group);
        let cube = group.model.mesh().cube();
        let centre = Vec3::from(cube.centre);
        let below = (shown.all.min - centre).abs();
        let above = (shown.all.max - centre).abs();
        let usual = Cube::around(shown.bounds.min.to_array(), shown.bounds.max.to_array());
        if below.max(above).max_element() <= cube.half && cube.half <= 2.0 * usual.half {
            continue;
        }
        let extent = (shown.all.max - shown.all.min).max_element() / 2.0;
        let fitting = Cube {
            centre: shown.all.min.midpoint(shown.all.max).to_array(),
            half: usual.half.max(CUBE_MARGIN * extent),
        };
        let model = Model::clone(&group.model).with_cube(fitting);
        crowd.set_model(index, Arc::new(model));
    }
    crowd
}

/// Distance from the f32 of a number's magnitude to the next larger one.
fn spacing(number: f64) -> f64 {
    let number = (number as f32).abs();
    f64::from(number.next_up()) - f64::from(number)
}

fn measured(crowd: &Crowd, group: &Group) -> Shown {
    let model = &*group.model;
    let joints = model.skeleton().len();
    let followed = model.followed_joints();
    let vertices = outermost(model);
    let mut largest: Option<Bounds> = None;
    let mut all: Option<Bounds> = None;
    let mut farthest = 0.0f64;
    let mut joints_shown = vec![JointShown::default(); joints];
    let poses = (JOINTS / joints).clamp(FEWEST_POSES, POSES);
    let instances = group.len().min(INSTANCES).min(poses);
    for sample in 0..poses {
        let place = (sample % instances) * (group.len() - 1) / (instances - 1).max(1);
        let instance = group.instances.start + place as u32;
        let pose = ReferencePose::new(crowd, instance, sample as u32 * TICK_STRIDE);
        add_joints(model, &pose, &mut joints_shown);
        for (joint, is_followed) in joints_shown.iter().zip(&followed) {
            if *is_followed {
                farthest = farthest.max(joint.distance);
            }
        }
        let mut points = Vec::with_capacity(vertices.len());
        for &vertex in &vertices {
            let point = pose.place(model, vertex);
            farthest = farthest.max(point.farthest);
            points.push(point.position.as_vec3());
        }
        let posed = Bounds::around(points);
        if !(posed.min.is_finite() && posed.max.is_finite()) {
            continue;
        }
        if largest.is_none_or(|largest| posed.diagonal() > largest.diagonal()) {
            largest = Some(posed);
        }
        let all = all.get_or_insert(posed);
        all.include(posed.min);
        all.include(posed.max);
    }
    let rest = model.bounds();
    let largest = largest.unwrap_or(rest);
    let resting = f64::from(rest.diagonal());
    let posed = f64::from(largest.diagonal());
    let similar = resting <= SIMILAR * posed && posed <= SIMILAR * resting;
    let bounds = if similar { rest } else { largest };
    let diagonal = match f64::from(bounds.diagonal()) {
        extent if extent > 0.0 => extent,
        _ if farthest > 0.0 => farthest,
        _ => 1.0,
    };
    let fading = fade_rounding(crowd, group);
    let sampling = curve_rounding(model).max(fading);
    let depth = longest_chain(model, &vec![true; joints]) as f64;
    let influences = f64::from(model.mesh().max_influences());
    let roundings = longest_chain(model, &followed) as f64 + influences + MORE_ROUNDINGS;
    Shown {
        bounds,
        diagonal,
        all: all.unwrap_or(rest),
        farthest,
        rounding: 0.5 * 3f64.sqrt() * roundings * spacing(farthest),
        sampling,
        fading,
        // A quaternion's error turns vectors by up to twice as much.
        turning: depth * JOINT_ROUNDING + 2.0 * sampling,
        joints: joints_shown,
    }
}

/// Bound of the error of rotations from cubic curves of which a part is shorter than the lower bound that stands for all
/// others.
fn curve_rounding(model: &Model) -> f64 {
    let raw = model.clips().iter().filter_map(|clip| clip.keys().raw());
    let shortest = raw.fold(1.0, |least: f64, raw| least.min(raw.shortest_curve()));
    if shortest < SHORT_CURVE {
        CURVE_ROUNDINGS * f64::from(f32::EPSILON) / shortest
    } else {
        0.0
    }
}

/// Bound of the error of rotations in a group's inertial fades.
fn fade_rounding(crowd: &Crowd, group: &Group) -> f64 {
    let layers = crowd.layers().range(group.instances.clone());
    let fading = layers
        .flatten()
        .filter(|layer| layer.fade == Fade::Inertial);
    let ticks = fading.map(|layer| layer.schedule.fade_in.max(layer.schedule.fade_out));
    FADE_ROUNDING * f64::from(ticks.max().unwrap_or(0))
}

/// Adds the values of a pose's joints.
fn add_joints(model: &Model, pose: &ReferencePose, joints: &mut [JointShown]) {
    for (joint, &parent) in model.skeleton().parents().iter().enumerate() {
        let above = match parent {
            NO_PARENT => 0.0,
            parent => joints[usize::from(parent)].distance,
        };
        let local = &pose.local[joint];
        let placed = &pose.model[joint];
        let axes = (0..3).map(|axis| placed.matrix3.col(axis).length());
        let shown = &mut joints[joint];
        *shown = JointShown {
            translation: shown.translation.max(local.translation.length()),
            scale: shown.scale.max(local.scale.length()),
            distance: shown.distance.max(above).max(placed.translation.length()),
            axis: axes.fold(shown.axis, f64::max),
        };
    }
}

/// Number of joints in the longest chain that some vertex follows.
fn longest_chain(model: &Model, followed: &[bool]) -> usize {
    let mut depths: Vec<usize> = Vec::with_capacity(followed.len());
    let mut longest = 0;
    for (joint, &parent) in model.skeleton().parents().iter().enumerate() {
        let above = match parent {
            NO_PARENT => 0,
            parent => depths[usize::from(parent)],
        };
        depths.push(above + 1);
        if followed[joint] {
            longest = longest.max(above + 1);
        }
    }
    longest
}

/// Vertices that touch the box around those of some palette entry.
fn outermost(model: &Model) -> Vec<usize> {
    let boxes = model.entry_boxes();
    let mesh = model.mesh();
    let mut outer = Vec::new();
    for (vertex, position) in mesh.positions().iter().enumerate() {
        let position = Vec3::from(*position);
        let touches = mesh.entries_of(vertex).any(|entry| {
            boxes[entry].is_some_and(|bounds| {
                position.cmpeq(bounds.min).any() || position.cmpeq(bounds.max).any()
            })
        });
        if touches {
            outer.push(vertex);
        }
    }
    let step = outer.len().div_ceil(VERTICES).max(1);
    outer.into_iter().step_by(step).collect()
}

/// A vertex in a pose.
struct Place {
    position: DVec3,
    /// Largest coordinate of the vertex, and of the products and sums that make it.
    farthest: f64,
}

impl ReferencePose {
    /// Blends the places where the joints of a vertex put it.
    fn place(&self, model: &Model, vertex: usize) -> Place {
        let mesh = model.mesh();
        let moved = self.offsets.get(vertex).map_or(DVec3::ZERO, |sums| sums[0]);
        let point = Vec3::from(mesh.positions()[vertex]).as_dvec3() + moved;
        let mut place = Place {
            position: DVec3::ZERO,
            farthest: 0.0,
        };
        for (entry, weight) in mesh.influences_of(vertex) {
            if weight <= 0.0 {
                continue;
            }
            let entry = &self.palette[usize::from(entry)];
            let turned = entry.matrix3 * point;
            place.position += f64::from(weight) * (turned + entry.translation);
            for term in [turned, entry.translation] {
                place.farthest = place.farthest.max(term.abs().max_element());
            }
        }
        place.farthest = place.farthest.max(place.position.abs().max_element());
        place
    }
}
