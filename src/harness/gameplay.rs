//! Comparison of bounds and sockets with the reference: every vertex lies within its box, every socket where its joint
//! is.

use super::parity::spread;
use crate::crowd::Crowd;
use crate::frame::Approximation;
use crate::gameplay::{Gameplay, GameplayData, MARGIN};
use crate::model::affine_to_rows;
use crate::pose::ErrorPoints;
use crate::reference::{ReferencePose, reference_vertices, shown};
use glam::{DVec3, Vec3};

/// Most instances of a group that are compared.
const COMPARED: usize = 16;

/// The first difference of what a backend read at a tick; `None` if there is none. `approximation` is what the backend
/// states; bounds must contain the reference's vertices all the same.
pub fn failure(
    crowd: &Crowd,
    gameplay: &Gameplay,
    read: Option<GameplayData>,
    approximation: Option<Approximation>,
    tick: u32,
) -> Option<String> {
    let Some(GameplayData { bounds, sockets }) = read else {
        return Some("read no bounds and sockets".into());
    };
    let expected = crowd.instance_count();
    if bounds.len() != if gameplay.bounds { expected } else { 0 }
        || sockets.len() != gameplay.sockets * expected
    {
        return Some(format!(
            "{} bounds and {} sockets for {expected} instances",
            bounds.len(),
            sockets.len()
        ));
    }
    let allowed = f64::from(MARGIN)
        + approximation
            .and_then(|stated| stated.clip_error)
            .unwrap_or(0.0);
    for (group, reads) in crowd.groups().iter().zip(&gameplay.groups) {
        let points = ErrorPoints::of(&group.model);
        let allowed = allowed.max(shown(crowd, group).rounding / points.size());
        for instance in spread(group, COMPARED) {
            let place = format!("instance {instance}, tick {tick}");
            if let Some(bounds) = bounds.get(instance as usize) {
                let vertices = reference_vertices(crowd, instance, tick);
                let outside = vertices
                    .chunks_exact(group.format.floats())
                    .position(|vertex| !contains(bounds, DVec3::from_slice(vertex)));
                if let Some(vertex) = outside {
                    return Some(format!(
                        "vertex {vertex} lies outside its bounds {bounds:?} ({place})"
                    ));
                }
            }
            let sockets = &sockets[instance as usize * gameplay.sockets..][..gameplay.sockets];
            if sockets.is_empty() {
                continue;
            }
            let pose = ReferencePose::new(crowd, instance, tick);
            for (index, (found, socket)) in sockets.iter().zip(&reads.sockets).enumerate() {
                let joint = usize::from(group.model.palette_joints()[socket.entry as usize]);
                let expected = affine_to_rows(&pose.model[joint]);
                let off = std::array::from_fn(|i| f64::from(found[i]) - f64::from(expected[i]));
                let distance = points.distance(joint, &off);
                if distance > allowed || found.iter().any(|v| !v.is_finite()) {
                    return Some(format!(
                        "socket {index} is off by {distance:.1e} of the size ({place})"
                    ));
                }
            }
        }
    }
    None
}

/// Returns whether a box, as its least and largest coordinates, is finite and contains a point.
fn contains(bounds: &[f32; 6], point: DVec3) -> bool {
    let min = Vec3::from_slice(&bounds[..3]).as_dvec3();
    let max = Vec3::from_slice(&bounds[3..]).as_dvec3();
    min.is_finite() && max.is_finite() && point.cmpge(min).all() && point.cmple(max).all()
}
