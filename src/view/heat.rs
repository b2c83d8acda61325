//! Errors as colours: the distance of each vertex from its reference, on a logarithmic scale.

use crate::crowd::{Crowd, Group};
use crate::gpu::{LineEnd, Overlay, opaque};
use crate::model::rows_to_affine;
use crate::reference::WorstError;
use glam::{DAffine3, Vec3};
use rayon::prelude::*;

/// Errors at the ends of the scale, as fractions of the model's diagonal. Smaller errors are black, larger ones have
/// the brightest colour.
pub const SCALE: [f64; 2] = [1e-8, 1e-2];
/// Most vertices that are painted.
pub const MOST_VERTICES: usize = 1 << 20;
/// Colours of the scale in sRGB, from dark to bright, with hues that remain distinguishable with colour blindness.
const COLORS: [[f32; 3]; 5] = [
    [0.0, 0.0, 0.0],
    [0.34, 0.06, 0.43],
    [0.73, 0.21, 0.33],
    [0.98, 0.55, 0.04],
    [0.99, 1.0, 0.64],
];
/// Colour of NaN, sRGB.
const NOT_A_NUMBER: [f32; 3] = [0.0, 1.0, 1.0];

/// Vertices of some instances, coloured by their errors.
#[derive(Debug, Clone, Default)]
pub struct Heat {
    /// Triangles of the vertices in world space, in the colours of their errors.
    pub overlay: Overlay,
    /// The largest error; `None` if no vertex was compared.
    pub worst: Option<WorstError>,
    /// Instances that are painted.
    pub painted: usize,
}

/// Colour of an error in sRGB, 0 to 1.
pub fn color(error: f64) -> [f32; 3] {
    if error.is_nan() {
        return NOT_A_NUMBER;
    }
    let place = (error.max(f64::MIN_POSITIVE) / SCALE[0]).log10() / (SCALE[1] / SCALE[0]).log10();
    let place = (place.clamp(0.0, 1.0) * (COLORS.len() - 1) as f64) as f32;
    let first = (place as usize).min(COLORS.len() - 2);
    let rest = place - first as f32;
    std::array::from_fn(|i| COLORS[first][i] + rest * (COLORS[first + 1][i] - COLORS[first][i]))
}

/// An instance and its skinned words.
pub struct InstanceWords {
    /// Its index in the crowd.
    pub instance: u32,
    /// `[vertex][word]`.
    pub words: Vec<f32>,
}

/// An instance with a colour at each vertex.
struct Painted {
    instance: u32,
    corners: Vec<LineEnd>,
    worst: WorstError,
}

/// Paints instances of a crowd. `errors` are those of an instance's vertices, if they are known.
pub fn paint(
    crowd: &Crowd,
    tick: u32,
    light: Vec3,
    instances: Vec<InstanceWords>,
    errors: impl Fn(&InstanceWords) -> Option<Vec<f64>> + Sync,
) -> Heat {
    let painted: Vec<Painted> = instances
        .into_par_iter()
        .filter_map(|shown| {
            let errors = errors(&shown)?;
            let group = &crowd.groups()[crowd.group_of(shown.instance)];
            let placement = rows_to_affine(crowd.placement_at(shown.instance, tick));
            let mut corners = Vec::with_capacity(errors.len());
            let vertices = shown.words.chunks_exact(group.format.words());
            for (words, error) in vertices.zip(&errors) {
                corners.push(corner(group, &placement, light, words, *error));
            }
            Some(Painted {
                instance: shown.instance,
                corners,
                worst: worst_of(shown.instance, &errors),
            })
        })
        .collect();
    let mut heat = Heat {
        painted: painted.len(),
        ..Heat::default()
    };
    for shown in painted {
        let first = heat.overlay.corners.len() as u32;
        let mesh = crowd.groups()[crowd.group_of(shown.instance)].model.mesh();
        let indices = mesh.indices().iter().map(|index| first + index);
        heat.overlay.indices.extend(indices);
        heat.overlay.corners.extend(shown.corners);
        let worst = shown.worst;
        heat.worst = Some(heat.worst.map_or(worst, |known| known.max(worst)));
    }
    heat
}

/// A vertex in the colour of its error.
fn corner(group: &Group, placement: &DAffine3, light: Vec3, words: &[f32], error: f64) -> LineEnd {
    let floats = group.format.decode(group.model.mesh().cube(), words);
    let position = Vec3::from_slice(&floats).as_dvec3();
    let normal = Vec3::from_slice(&floats[3..]).as_dvec3();
    // A little shading shows the shape where errors are uniform; black stays black.
    let shade = if group.format.floats() < 6 {
        1.0
    } else {
        let normal = placement.transform_vector3(normal).normalize_or_zero();
        0.65 + 0.35 * normal.as_vec3().dot(light).max(0.0)
    };
    let world = placement.transform_point3(position);
    let world = if world.is_finite() {
        world
    } else {
        placement.translation
    };
    LineEnd {
        position: world.as_vec3().to_array(),
        color: opaque(Vec3::from(color(error)).powf(2.2) * shade),
    }
}

fn worst_of(instance: u32, errors: &[f64]) -> WorstError {
    let mut worst = WorstError {
        error: 0.0,
        instance,
        item: 0,
    };
    for (item, &error) in errors.iter().enumerate() {
        worst = worst.max(WorstError {
            error,
            instance,
            item,
        });
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_goes_from_black_to_bright() {
        assert_eq!(color(0.0), [0.0; 3]);
        assert_eq!(color(1e-9), [0.0; 3]);
        assert_eq!(color(1e-2), COLORS[4]);
        assert_eq!(color(7.0), COLORS[4]);
        assert_eq!(color(f64::NAN), NOT_A_NUMBER);
        let brightness = |error: f64| color(error).iter().sum::<f32>();
        let steps: Vec<f32> = (-80..=-20)
            .map(|tenths| brightness(10f64.powf(f64::from(tenths) / 10.0)))
            .collect();
        assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
    }

    #[test]
    fn a_number_that_is_none_is_the_worst() {
        assert_eq!(worst_of(3, &[0.5, 0.7, 0.1]).item, 1);
        let worst = worst_of(3, &[0.5, f64::NAN, 0.9]);
        assert!(worst.error.is_nan() && worst.item == 1);
    }
}
