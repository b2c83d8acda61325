//! People who differ: the walker's mesh with other proportions, clothes and hair.
//!
//! Meshing a body takes a hundred times as long as bending a finished mesh, so all people of a crowd start from one
//! mesh. Each has vertices, a skeleton and clips of its own; only the triangles and weights are those of the walker.

use super::Base;
use super::cloth::Cloth;
use super::rig::{
    CALF_TWIST, CLAVICLE, HAND, HEAD, JOINTS, LOWERARM_TWIST, NECK, PELVIS, Region, SPINE, THIGH,
    UPPERARM, UPPERARM_TWIST,
};
use glam::{DMat3, DVec3, dvec3};
use rand_core::Rng;
use rand_pcg::Pcg32;
use skinbench_kernels::error::Result;
use skinbench_kernels::model::{Model, area_normals};

/// Seed of all people; each has a stream of its own.
const SEED: u64 = 24;

/// Colours of cloth, linear RGB.
const CLOTHS: [[f32; 3]; 12] = [
    [0.12, 0.27, 0.42],
    [0.42, 0.09, 0.07],
    [0.10, 0.25, 0.13],
    [0.55, 0.52, 0.46],
    [0.05, 0.06, 0.08],
    [0.45, 0.30, 0.08],
    [0.24, 0.10, 0.28],
    [0.07, 0.075, 0.10],
    [0.20, 0.15, 0.10],
    [0.30, 0.33, 0.36],
    [0.05, 0.17, 0.22],
    [0.50, 0.22, 0.20],
];
const SKINS: [[f32; 3]; 6] = [
    [0.62, 0.38, 0.27],
    [0.50, 0.27, 0.17],
    [0.38, 0.19, 0.11],
    [0.26, 0.12, 0.065],
    [0.14, 0.065, 0.035],
    [0.56, 0.34, 0.20],
];
const HAIRS: [[f32; 3]; 6] = [
    [0.035, 0.022, 0.016],
    [0.010, 0.009, 0.009],
    [0.10, 0.045, 0.020],
    [0.32, 0.20, 0.08],
    [0.30, 0.29, 0.28],
    [0.20, 0.055, 0.020],
];

/// Proportions of a person, as factors of the walker's, and thicknesses in metres of the walker.
struct Physique {
    /// Of the whole.
    size: f64,
    /// Heights of the trunk, relative to legs that keep their length.
    trunk: f64,
    /// Widths of shoulders and hips, and depth of the trunk.
    shoulders: f64,
    hips: f64,
    depth: f64,
    arms: f64,
    hands: f64,
    head: f64,
    /// Girths of arms and legs.
    arm_girth: f64,
    leg_girth: f64,
    belly: f64,
    shirt: f64,
    trousers: f64,
    hair: f64,
}

impl Physique {
    fn of(random: &mut Pcg32) -> Self {
        let mut between = |low: f64, high: f64| {
            let number = f64::from(random.next_u32());
            low + (high - low) * number / 2f64.powi(32)
        };
        let stout = between(0.0, 1.0);
        let girth = 0.9 + 0.22 * stout;
        Self {
            size: between(0.9, 1.1),
            trunk: between(0.94, 1.08),
            shoulders: between(0.88, 1.12),
            hips: between(0.92, 1.12),
            depth: girth + between(-0.02, 0.04),
            arms: between(0.94, 1.07),
            hands: between(0.92, 1.08),
            head: between(0.94, 1.06),
            arm_girth: girth * between(0.95, 1.1),
            leg_girth: girth * between(0.95, 1.06),
            belly: 0.09 * stout * between(0.0, 1.0),
            shirt: between(0.0, 0.016),
            trousers: between(0.0, 0.010),
            hair: between(-0.004, 0.035),
        }
    }

    /// Factors of a joint's offset from its parent, in the model's axes.
    fn stretch(&self, joint: usize) -> DVec3 {
        match Region::of(joint) {
            Region::Trunk(joint) if joint > HEAD => DVec3::splat(self.head),
            Region::Trunk(joint) if joint > PELVIS => dvec3(1.0, self.trunk, 1.0),
            Region::Arm(CLAVICLE) => dvec3(self.shoulders, self.trunk, 1.0),
            Region::Arm(UPPERARM) => dvec3(self.shoulders, 1.0, 1.0),
            Region::Arm(UPPERARM_TWIST..=HAND) => DVec3::splat(self.arms),
            Region::Arm(_) => DVec3::splat(self.hands),
            Region::Leg(THIGH) => dvec3(self.hips, 1.0, 1.0),
            Region::Trunk(_) | Region::Leg(_) => DVec3::ONE,
        }
    }

    /// Scale of the flesh around a joint, in the model's axes at rest; `axes` are the joint's, X along its segment.
    fn flesh(&self, joint: usize, axes: DMat3) -> DMat3 {
        let diagonal = match Region::of(joint) {
            Region::Trunk(PELVIS) => dvec3(self.hips, 1.0, self.depth),
            Region::Trunk(joint) if SPINE.contains(&joint) => {
                let up = (joint - PELVIS) as f64 / SPINE.len() as f64;
                let width = self.hips + (self.shoulders - self.hips) * up;
                dvec3(width, self.trunk, self.depth)
            }
            Region::Trunk(joint) if NECK.contains(&joint) => dvec3(1.0, self.trunk, 1.0),
            Region::Trunk(joint) if joint >= HEAD => DVec3::splat(self.head),
            Region::Arm(CLAVICLE) => dvec3(self.shoulders, self.trunk, self.depth),
            Region::Arm(UPPERARM..=LOWERARM_TWIST) => {
                return along(axes, self.arms, self.arm_girth);
            }
            Region::Arm(_) => DVec3::splat(self.hands),
            Region::Leg(THIGH..=CALF_TWIST) => return along(axes, 1.0, self.leg_girth),
            // Feet keep their shape, so that soles stay on the ground.
            Region::Trunk(_) | Region::Leg(_) => DVec3::ONE,
        };
        DMat3::from_diagonal(diagonal)
    }

    /// Thickness of what covers the skin, in metres.
    fn cover(&self, cloth: Cloth) -> f64 {
        match cloth {
            Cloth::Hair => self.hair,
            Cloth::Shirt => self.shirt,
            Cloth::Trousers => self.trousers,
            Cloth::Skin | Cloth::Shoes | Cloth::Eyes => 0.0,
        }
    }

    /// Thickness of the belly at a point of the walker, in metres.
    fn belly(&self, p: DVec3) -> f64 {
        let off = (p - dvec3(0.0, 1.09, 0.10)) / dvec3(0.17, 0.17, 0.13);
        let t = (1.0 - off.length_squared()).max(0.0);
        self.belly * t * t
    }
}

/// A scale along the first of some axes and around it.
fn along(axes: DMat3, length: f64, girth: f64) -> DMat3 {
    axes * DMat3::from_diagonal(dvec3(length, girth, girth)) * axes.transpose()
}

/// The mesh from which all people of a crowd are made.
pub struct People {
    base: Base,
    /// Fraction of the triangles around each vertex that have each cover, in the order of [`Cloth::ALL`].
    covers: Vec<[f64; Cloth::ALL.len()]>,
}

impl People {
    /// Meshes a body with about `vertices` vertices (within 10 %).
    ///
    /// # Errors
    /// A number of vertices outside [`super::VERTICES`].
    pub fn new(vertices: u32) -> Result<Self> {
        let base = Base::new(vertices)?;
        let mut covers = vec![[0.0; Cloth::ALL.len()]; base.surface.positions.len()];
        for subset in &base.primitive.subsets {
            for &vertex in base.primitive.indices_of(subset) {
                covers[vertex as usize][usize::from(subset.material)] += 1.0;
            }
        }
        for cover in &mut covers {
            let sum: f64 = cover.iter().sum();
            for share in cover {
                *share /= sum.max(1.0);
            }
        }
        Ok(Self { base, covers })
    }

    /// The person with a number: always the same one, with the joints and the names of clips of the
    /// [walker](super::walker).
    ///
    /// # Errors
    /// None for any number; those of [`Model::new`] if a formula were wrong.
    pub fn person(&self, number: u32) -> Result<Model> {
        let mut random = Pcg32::new(SEED, number.into());
        let build = Physique::of(&mut random);
        let Base {
            rig: from,
            surface,
            primitive,
        } = &self.base;
        let rig = from.stretched(|joint| build.stretch(joint), build.size);
        let flesh: [DMat3; JOINTS] = std::array::from_fn(|joint| {
            build.flesh(joint, DMat3::from_quat(from.joints[joint].orientation))
        });
        let mut positions = Vec::with_capacity(surface.positions.len());
        for (vertex, &p) in surface.positions.iter().enumerate() {
            let mut moved = DVec3::ZERO;
            for (joint, weight) in primitive.influences.of(vertex) {
                let joint = usize::from(joint);
                let offset = flesh[joint] * (p - from.joints[joint].position);
                moved += (rig.joints[joint].position + offset) * f64::from(weight);
            }
            let mut thickness = 0.0;
            for (&cloth, share) in Cloth::ALL.iter().zip(&self.covers[vertex]) {
                thickness += build.cover(cloth) * share;
            }
            positions.push(moved + surface.normals[vertex] * (thickness + build.belly(p)));
        }
        let mut normals = area_normals(&positions, primitive.indices.as_chunks::<3>().0);
        for (normal, instead) in normals.iter_mut().zip(&surface.normals) {
            *normal = normal.normalize_or(*instead);
        }
        let mut pick = |colours: &[[f32; 3]]| colours[random.next_u32() as usize % colours.len()];
        let colours = [
            pick(&SKINS),
            pick(&HAIRS),
            pick(&CLOTHS),
            pick(&CLOTHS),
            pick(&CLOTHS[4..]),
        ];
        let name = format!("person-{number}");
        self.base.model(&name, &rig, &positions, &normals, |cloth| {
            let mut material = cloth.material();
            // Eyes, the last of the covers, keep their colour.
            if let Some(colour) = colours.get(cloth as usize) {
                material.base_color[..3].copy_from_slice(colour);
            }
            material
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_differ_in_shape_and_height_and_stay_whole() {
        let people = People::new(600).unwrap();
        let models: Vec<Model> = (0..8)
            .map(|number| people.person(number).unwrap())
            .collect();
        let heights: Vec<f32> = models
            .iter()
            .map(|m| m.bounds().max.y - m.bounds().min.y)
            .collect();
        assert!(
            heights.iter().all(|height| (1.45..2.1).contains(height)),
            "{heights:?}"
        );
        for (number, model) in models.iter().enumerate() {
            assert!(
                model.bounds().min.y.abs() < 0.02,
                "person {number} stands at {}",
                model.bounds().min.y
            );
            assert_eq!(model.skeleton().len(), JOINTS);
            assert!(
                heights[..number]
                    .iter()
                    .all(|other| (other - heights[number]).abs() > 1e-4),
                "{heights:?}"
            );
            // No part of the surface is turned inside out: triangles face as they do on the walker.
            let mesh = model.mesh();
            let p = |vertex: u32| DVec3::from(mesh.positions()[vertex as usize].map(f64::from));
            let n = |vertex: u32| DVec3::from(mesh.normals()[vertex as usize].map(f64::from));
            let against = mesh
                .indices()
                .as_chunks::<3>()
                .0
                .iter()
                .filter(|&&[a, b, c]| {
                    let face = (p(b) - p(a)).cross(p(c) - p(a));
                    face.dot(n(a) + n(b) + n(c)) < 0.0
                });
            let against = against.count();
            assert!(
                against * 100 < mesh.indices().len() / 3,
                "{against} triangles of person {number} are folded"
            );
        }
        let again = People::new(600).unwrap().person(3).unwrap();
        assert_eq!(
            again.mesh(),
            models[3].mesh(),
            "a person is always the same one"
        );
    }
}
