//! The built-in face: a head of three joints with 52 morph targets, which a seed varies.
//!
//! The head is an ellipsoid with a nose and a chin. A target pushes the skin around one place of the face. All of it is
//! computed with libm, so that every platform gets the same face.

use crate::curves::{check_vertices, floats, rotation, smooth_step};
use glam::{DVec2, DVec3};
use rand_core::Rng;
use rand_pcg::Pcg32;
use skinbench_kernels::error::Result;
use skinbench_kernels::model::{
    Channel, Clip, IDENTITY_ROWS, Interpolation, Joint, Keys, Material, Model, ModelParts,
    PrimitiveData, RotationBlend, Skeleton, SkinData, Target, TargetDeltas, Transform, WeightKeys,
    area_normals,
};
use std::f64::consts::{PI, TAU};
use std::ops::RangeInclusive;

/// Vertex counts that the face can have.
const VERTICES: RangeInclusive<u32> = 200..=1_000_000;
/// Half the width, height and depth of the head, in metres.
const SIZE: DVec3 = DVec3::new(0.085, 0.13, 0.105);
/// Height of the neck's and of the head's joint, and of the middle of the head, in metres.
const HEAD: f64 = 0.06;
const MIDDLE: f64 = 0.14;
const NECK: u16 = 0;
const SKULL: u16 = 1;
const JAW: u16 = 2;

/// A push of the skin around a place of the face.
struct Push {
    name: &'static str,
    /// To the face's left and up, in half widths and half heights.
    place: [f64; 2],
    /// In the unit of the place.
    radius: f64,
    /// Direction and length in centimetres.
    way: [f64; 3],
}

const fn push(name: &'static str, place: [f64; 2], radius: f64, way: [f64; 3]) -> Push {
    Push {
        name,
        place,
        radius,
        way,
    }
}

/// Pushes that the face has on both sides.
const PAIRS: [Push; 24] = [
    push("brow_inner_up", [0.15, 0.38], 0.28, [0.0, 0.8, 0.1]),
    push("brow_outer_up", [0.55, 0.42], 0.32, [0.0, 0.8, 0.0]),
    push("brow_down", [0.35, 0.38], 0.38, [-0.2, -0.7, 0.1]),
    push("eye_blink", [0.38, 0.22], 0.20, [0.0, -0.9, 0.1]),
    push("eye_squint", [0.40, 0.16], 0.26, [0.0, 0.3, 0.2]),
    push("eye_wide", [0.38, 0.26], 0.20, [0.0, 0.5, 0.0]),
    push("lid_lower_up", [0.38, 0.12], 0.18, [0.0, 0.5, 0.1]),
    push("cheek_puff", [0.50, -0.20], 0.45, [0.5, 0.0, 0.9]),
    push("cheek_raise", [0.45, 0.0], 0.38, [0.1, 0.6, 0.3]),
    push("cheek_hollow", [0.55, -0.25], 0.35, [-0.3, 0.0, -0.7]),
    push("nose_sneer", [0.14, 0.08], 0.22, [0.0, 0.5, 0.1]),
    push("nostril_flare", [0.14, -0.08], 0.14, [0.4, 0.0, 0.1]),
    push("mouth_smile", [0.28, -0.34], 0.34, [0.8, 0.7, -0.2]),
    push("mouth_frown", [0.28, -0.40], 0.32, [0.3, -0.8, 0.0]),
    push("mouth_stretch", [0.30, -0.38], 0.36, [0.9, -0.1, -0.2]),
    push("mouth_dimple", [0.36, -0.36], 0.16, [0.1, 0.0, -0.5]),
    push("mouth_upper_up", [0.12, -0.30], 0.18, [0.0, 0.6, 0.1]),
    push("mouth_lower_down", [0.12, -0.44], 0.18, [0.0, -0.6, 0.1]),
    push("mouth_press", [0.16, -0.37], 0.18, [0.0, 0.1, -0.4]),
    push("mouth_corner_in", [0.26, -0.37], 0.20, [-0.6, 0.0, 0.2]),
    push("jaw_clench", [0.62, -0.35], 0.30, [0.4, 0.0, 0.2]),
    push("temple_pulse", [0.72, 0.34], 0.22, [0.2, 0.0, 0.1]),
    push("lip_roll", [0.10, -0.40], 0.16, [0.0, 0.2, -0.5]),
    push("brow_furrow", [0.10, 0.32], 0.20, [-0.4, -0.3, 0.3]),
];

/// Pushes in the middle of the face.
const SINGLES: [Push; 4] = [
    push("mouth_pucker", [0.0, -0.37], 0.40, [0.0, 0.0, 1.2]),
    push("mouth_funnel", [0.0, -0.40], 0.34, [0.0, -0.3, 0.9]),
    push("chin_raise", [0.0, -0.68], 0.36, [0.0, 0.6, 0.2]),
    push("jaw_drop", [0.0, -0.70], 0.80, [0.0, -1.6, -0.3]),
];

/// Builds the face with approximately this many vertices. `seed` varies the strength and reach of its targets.
///
/// Its clips are `nod`, which moves joints alone, and `talk`, `mimic` and `twitch`, which also set weights: linearly, by
/// cubic splines, and step by step.
///
/// # Errors
/// A number of vertices outside 200 to 1,000,000.
pub fn face(vertices: u32, seed: u64) -> Result<Model> {
    check_vertices("face", vertices, &VERTICES)?;
    let pushes = pushes(seed);
    let head = Head::new(vertices).primitive(&pushes);
    let joints = vec![
        joint("neck", None, [0.0; 3]),
        joint("head", Some(0), [0.0, HEAD, 0.0]),
        joint("jaw", Some(1), JAW_AT),
    ];
    let (skeleton, _) = Skeleton::new(joints)?;
    let mut inverse_binds = vec![IDENTITY_ROWS; 3];
    inverse_binds[1][7] = -HEAD as f32;
    inverse_binds[2][7] = -(HEAD + JAW_AT[1]) as f32;
    inverse_binds[2][11] = -JAW_AT[2] as f32;
    let skin = SkinData {
        name: "face".into(),
        joints: vec![0, 1, 2],
        inverse_binds,
    };
    let targets = pushes.iter().map(|push| Target {
        name: push.name.clone(),
        weight: 0.0,
    });
    Model::new(ModelParts {
        clips: clips(pushes.len() as u32)?,
        targets: targets.collect(),
        materials: vec![Material {
            name: "skin".into(),
            base_color: [0.80, 0.56, 0.44, 1.0],
            ..Material::default()
        }],
        ..ModelParts::new("face", skeleton, skin, vec![head])
    })
}

fn joint(name: &str, parent: Option<usize>, at: [f64; 3]) -> Joint {
    let rest = Transform {
        translation: DVec3::from(at).as_vec3(),
        ..Transform::IDENTITY
    };
    Joint::new(name, parent, rest)
}

/// Place of the jaw's joint relative to that of the head.
const JAW_AT: [f64; 3] = [0.0, 0.05, 0.01];

/// A target's push on one side of the face.
struct FacePush {
    name: String,
    place: DVec2,
    radius: f64,
    /// In metres.
    way: DVec3,
}

fn pushes(seed: u64) -> Vec<FacePush> {
    let mut random = Pcg32::new(seed, 0);
    let mut pushes = Vec::new();
    for pair in PAIRS {
        for (name, side) in [("left", 1.0), ("right", -1.0)] {
            let name = format!("{}_{name}", pair.name);
            pushes.push(FacePush::new(name, side, &pair, &mut random));
        }
    }
    for single in SINGLES {
        let name = single.name.into();
        pushes.push(FacePush::new(name, 1.0, &single, &mut random));
    }
    pushes
}

/// A factor near 1.
fn varied(random: &mut Pcg32) -> f64 {
    1.0 + 0.15 * (f64::from(random.next_u32()) / 2f64.powi(31) - 1.0)
}

impl FacePush {
    /// A push on the left side, 1, or mirrored to the right side, -1.
    fn new(name: String, side: f64, push: &Push, random: &mut Pcg32) -> Self {
        let metres = 0.01 * varied(random);
        Self {
            name,
            place: DVec2::from(push.place) * DVec2::new(side, 1.0),
            radius: push.radius * varied(random),
            way: DVec3::from(push.way) * DVec3::new(side, 1.0, 1.0) * metres,
        }
    }

    /// Displacement of a point on the unit sphere.
    fn at(&self, point: DVec3) -> DVec3 {
        // Less towards the sides, so that nothing tears where the face ends.
        self.way * (bump(point, self.place, self.radius) * (2.0 * point.z).min(1.0))
    }
}

/// Falls from 1 at a place of the face to 0 at a distance of `radius`; `point` is on the unit sphere.
fn bump(point: DVec3, place: DVec2, radius: f64) -> f64 {
    let distance = point.truncate().distance(place) / radius;
    if point.z > 0.0 && distance < 1.0 {
        (1.0 - distance * distance).powi(2)
    } else {
        0.0
    }
}

/// The head: rings of vertices from one pole to the other, without a seam.
struct Head {
    columns: u32,
    /// Points on the unit sphere.
    points: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

impl Head {
    fn new(vertices: u32) -> Self {
        let rings = libm::round(libm::sqrt(f64::from(vertices) / 2.0)) as u32;
        let columns = 2 * rings;
        let mut points = vec![DVec3::Y];
        for ring in 0..rings {
            let down = PI * f64::from(ring + 1) / f64::from(rings + 1);
            for column in 0..columns {
                let around = TAU * f64::from(column) / f64::from(columns);
                let flat = libm::sin(down);
                points.push(DVec3::new(
                    flat * libm::sin(around),
                    libm::cos(down),
                    flat * libm::cos(around),
                ));
            }
        }
        points.push(DVec3::NEG_Y);
        debug_assert_eq!(points.len() as u32, rings * columns + 2);
        let last = points.len() as u32 - 1;
        let mut triangles = Vec::new();
        for column in 0..columns {
            let next = (column + 1) % columns;
            triangles.push([0, 1 + column, 1 + next]);
            for ring in 1..rings {
                let upper = 1 + (ring - 1) * columns;
                let lower = upper + columns;
                let [a, b] = [upper + column, upper + next];
                let [c, d] = [lower + column, lower + next];
                triangles.extend([[a, c, b], [b, c, d]]);
            }
            let lowest = last - columns;
            triangles.push([last, lowest + next, lowest + column]);
        }
        Self {
            columns,
            points,
            triangles,
        }
    }

    /// The place of a point of the unit sphere on the face.
    fn place(point: DVec3) -> DVec3 {
        let bump = |x: f64, y: f64, radius: f64| bump(point, DVec2::new(x, y), radius);
        let nose = 0.022 * bump(0.0, -0.05, 0.2) + 0.01 * bump(0.0, 0.08, 0.16);
        let chin = 0.008 * bump(0.0, -0.75, 0.3);
        let eyes = -0.006 * (bump(0.38, 0.18, 0.18) + bump(-0.38, 0.18, 0.18));
        // Narrower towards the chin.
        let width = 1.0 + 0.25 * point.y.min(0.0);
        let size = SIZE * DVec3::new(width, 1.0, width);
        DVec3::new(0.0, MIDDLE, 0.0) + size * point + DVec3::new(0.0, 0.0, nose + chin + eyes)
    }

    /// The head with its vertices in some places.
    fn streams(&self, places: Vec<DVec3>) -> Streams {
        let mut normals = area_normals(&places, &self.triangles);
        let mut tangents = Vec::with_capacity(places.len());
        for (vertex, normal) in normals.iter_mut().enumerate() {
            *normal = normal.normalize_or(DVec3::Y);
            let along = self.along(vertex, &places);
            let tangent = along - *normal * normal.dot(along);
            tangents.push(tangent.normalize_or(DVec3::X));
        }
        Streams {
            places,
            normals,
            tangents,
        }
    }

    /// The direction along its ring at a vertex.
    fn along(&self, vertex: usize, places: &[DVec3]) -> DVec3 {
        if vertex == 0 || vertex == places.len() - 1 {
            return DVec3::X;
        }
        let columns = self.columns as usize;
        let column = (vertex - 1) % columns;
        let first = vertex - column;
        let next = first + (column + 1) % columns;
        let previous = first + (column + columns - 1) % columns;
        places[next] - places[previous]
    }

    fn primitive(&self, pushes: &[FacePush]) -> PrimitiveData {
        let places = self.points.iter().map(|&point| Self::place(point));
        let rest = self.streams(places.collect());
        let mut primitive = PrimitiveData {
            dumped_vertices: self.points.len() as u32,
            ..PrimitiveData::default()
        };
        primitive.add_subset(0, self.triangles.as_flattened().to_vec());
        for (target, push) in (0..).zip(pushes) {
            let mut places = Vec::with_capacity(self.points.len());
            for (&point, &place) in self.points.iter().zip(&rest.places) {
                places.push(place + push.at(point));
            }
            let pushed = self.streams(places);
            let mut deltas = TargetDeltas {
                target,
                ..TargetDeltas::default()
            };
            for vertex in 0..self.points.len() {
                let moved = [
                    difference(pushed.places[vertex], rest.places[vertex]),
                    difference(pushed.normals[vertex], rest.normals[vertex]),
                    difference(pushed.tangents[vertex], rest.tangents[vertex]),
                ];
                deltas.push(vertex as u32, moved);
            }
            primitive.targets.push(deltas);
        }
        let mut uvs = Vec::new();
        for (vertex, &point) in (0u32..).zip(&self.points) {
            let column = vertex.saturating_sub(1) % self.columns;
            let down = libm::acos(point.y.clamp(-1.0, 1.0)) / PI;
            uvs.push([column as f32 / self.columns as f32, down as f32]);
            primitive.influences.push(held(point));
        }
        let tangents = rest.tangents.iter();
        let tangents = tangents.map(|tangent| tangent.as_vec3().extend(1.0).to_array());
        primitive.tangents = Some(tangents.collect());
        primitive.uvs = Some(uvs);
        primitive.positions = floats(rest.places.into_iter());
        primitive.normals = Some(floats(rest.normals.into_iter()));
        primitive
    }
}

/// The vertices of the head: their places, area-weighted normals, and directions along the rings at right angles to these.
struct Streams {
    places: Vec<DVec3>,
    normals: Vec<DVec3>,
    tangents: Vec<DVec3>,
}

fn difference(a: DVec3, b: DVec3) -> [f32; 3] {
    let difference = a - b;
    // Rounding errors far from the push are no deltas.
    if difference.length() < 1e-9 {
        [0.0; 3]
    } else {
        difference.as_vec3().to_array()
    }
}

/// Joints and weights of a point of the unit sphere: the jaw holds the lower front, the neck the lowest part.
fn held(point: DVec3) -> [(u16, f32); 3] {
    let jaw = step(-0.25, -0.55, point.y) * step(-0.1, 0.4, point.z);
    let neck = (1.0 - jaw) * step(-0.7, -1.0, point.y);
    [
        (JAW, jaw as f32),
        (NECK, neck as f32),
        (SKULL, (1.0 - jaw - neck) as f32),
    ]
}

/// Rises or falls smoothly from 0 at `from` to 1 at `to`.
fn step(from: f64, to: f64, v: f64) -> f64 {
    smooth_step((v - from) / (to - from))
}

fn clips(targets: u32) -> Result<Vec<Clip>> {
    let nod = [0.0, 0.18, -0.08, 0.12, 0.0];
    let shake = [0.0, 0.3, 0.0, -0.25, 0.0];
    let chew = [0.0, 0.16, 0.02, 0.12, 0.0];
    let talk = vec![
        turn(SKULL, DVec3::Y, 3.0, shake),
        turn(JAW, DVec3::X, 3.0, chew),
    ];
    let mimic = vec![turn(SKULL, DVec3::X, 2.5, nod)];
    let twitch = vec![turn(JAW, DVec3::X, 1.0, chew)];
    let linear = waves(targets, 12, 3, Interpolation::Linear, 3.0);
    let cubic = waves(targets, 5, 2, Interpolation::CubicSpline, 2.5);
    let stepped = waves(targets, 4, 5, Interpolation::Step, 1.0);
    Ok(vec![
        clip("nod", vec![turn(SKULL, DVec3::X, 2.0, nod)])?,
        clip("talk", talk)?.with_weights(vec![linear])?,
        clip("mimic", mimic)?.with_weights(vec![cubic])?,
        clip("twitch", twitch)?.with_weights(vec![stepped])?,
    ])
}

fn clip(name: &str, keys: Vec<Keys>) -> Result<Clip> {
    Clip::new(name, None, RotationBlend::Slerp, keys)
}

/// Rotations of a joint about an axis by some angles in radians.
fn turn(joint: u16, axis: DVec3, duration: f64, angles: [f64; 5]) -> Keys {
    let step = duration / 4.0;
    let mut keys = Keys::linear(joint, Channel::Rotation, Vec::new(), Vec::new());
    for (key, angle) in angles.into_iter().enumerate() {
        keys.times.push((step * key as f64) as f32);
        let rotation = rotation(axis, angle).as_quat();
        keys.values.extend(rotation.to_array());
    }
    keys
}

/// Waves of weights in so many intervals. Of every few targets one moves; the others stay at 0 throughout.
fn waves(
    targets: u32,
    intervals: u32,
    every: u32,
    interpolation: Interpolation,
    duration: f32,
) -> WeightKeys {
    let mut times = Vec::new();
    let mut values = Vec::new();
    for key in 0..=intervals {
        times.push(duration * key as f32 / intervals as f32);
        for value in 0..interpolation.values_per_key() {
            for target in 0..targets {
                let phase = f64::from(key % intervals) / f64::from(intervals)
                    + f64::from(target) * 0.381_966;
                let moves = value == interpolation.value_of_key() && target.is_multiple_of(every);
                // Tangents are level.
                values.push(if moves {
                    libm::fmax(0.0, libm::sin(TAU * phase)) as f32
                } else {
                    0.0
                });
            }
        }
    }
    WeightKeys {
        targets: 0..targets,
        interpolation,
        times,
        values,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_face_has_52_targets_that_each_move_a_part_of_it() {
        let model = face(1_000, 1).unwrap();
        let (mesh, targets) = (model.mesh(), model.mesh().targets());
        assert_eq!(targets.len(), 52);
        assert!(
            (900..=1_100).contains(&mesh.vertex_count()),
            "{}",
            mesh.vertex_count()
        );
        let mut names: Vec<&str> = targets
            .list()
            .iter()
            .map(|target| target.name.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 52);
        for target in 0..52 {
            let moved: usize = targets
                .spans(target)
                .iter()
                .map(|span| span.vertices().len())
                .sum();
            assert!(
                moved >= 3 && moved < mesh.vertex_count() / 2,
                "target {target} moves {moved} vertices"
            );
        }
        assert!(
            face(100, 1)
                .unwrap_err()
                .problem
                .contains("expected 200 to 1000000")
        );
        let large = face(20_000, 1).unwrap().mesh().vertex_count();
        assert!((19_800..=20_200).contains(&large), "{large}");
    }

    #[test]
    fn the_seed_decides_how_far_targets_reach() {
        let [a, b, c] = [1, 1, 2].map(|seed| face(500, seed).unwrap());
        assert_eq!(a.mesh().targets(), b.mesh().targets());
        assert_ne!(a.mesh().targets(), c.mesh().targets());
        assert_eq!(a.mesh().positions(), c.mesh().positions());
    }

    #[test]
    fn clips_set_weights_by_each_interpolation() {
        let model = face(200, 1).unwrap();
        let interpolation = |clip: &Clip| clip.weights().first().map(|track| track.interpolation);
        let found: Vec<_> = model.clips().iter().map(interpolation).collect();
        let cubic = Some(Interpolation::CubicSpline);
        assert_eq!(
            found,
            [
                None,
                Some(Interpolation::Linear),
                cubic,
                Some(Interpolation::Step)
            ]
        );
    }
}
