//! Skinned vertices by the plainest f64 formulae, for holding importers to vertices that other engines computed.
use glam::{DAffine3, DMat3, DQuat, DVec3};
use skinbench::model::{
    Channel, Clip, Interpolation, Model, NO_PARENT, RawKeys, RotationBlend, Rows, Track,
};

/// A primitive's vertices in file order; normals are empty where the file has none.
#[derive(Default)]
pub struct Skinned {
    pub positions: Vec<DVec3>,
    pub normals: Vec<DVec3>,
}

/// All primitives of the file's own, at a time of a clip or at rest.
pub fn skin(model: &Model, clip: Option<(usize, f64)>) -> Vec<Skinned> {
    let pose = model_pose(
        model,
        clip.map(|(index, time)| (&model.clips()[index], time)),
    );
    let palette: Vec<DAffine3> = model
        .palette_joints()
        .iter()
        .zip(model.inverse_binds())
        .map(|(&joint, inverse_bind)| pose[usize::from(joint)] * affine(inverse_bind))
        .collect();
    let mesh = model.mesh();
    let mut primitives: Vec<Skinned> = mesh
        .primitives()
        .iter()
        .map(|p| {
            let count = p.dumped_vertices as usize;
            let normals = if p.has_normals { count } else { 0 };
            Skinned {
                positions: vec![DVec3::NAN; count],
                normals: vec![DVec3::NAN; normals],
            }
        })
        .collect();
    for (vertex, source) in mesh.sources().iter().enumerate() {
        let primitive = &mut primitives[source.primitive as usize];
        let (mut matrix, mut translation) = (DMat3::ZERO, DVec3::ZERO);
        for (entry, weight) in mesh.influences_of(vertex) {
            matrix += f64::from(weight) * palette[usize::from(entry)].matrix3;
            translation += f64::from(weight) * palette[usize::from(entry)].translation;
        }
        if let Some(position) = primitive.positions.get_mut(source.vertex as usize) {
            *position = matrix * vector(mesh.positions()[vertex]) + translation;
        }
        if let Some(normal) = primitive.normals.get_mut(source.vertex as usize) {
            *normal = (matrix * vector(mesh.normals()[vertex])).normalize_or_zero();
        }
    }
    primitives.retain(|p| !p.positions.is_empty());
    primitives
}

fn model_pose(model: &Model, clip: Option<(&Clip, f64)>) -> Vec<DAffine3> {
    let skeleton = model.skeleton();
    let mut scales: Vec<DVec3> = skeleton.rest().iter().map(|t| t.scale.as_dvec3()).collect();
    let mut rotations: Vec<DQuat> = skeleton
        .rest()
        .iter()
        .map(|t| t.rotation.as_dquat().normalize())
        .collect();
    let mut translations: Vec<DVec3> = skeleton
        .rest()
        .iter()
        .map(|t| t.translation.as_dvec3())
        .collect();
    if let Some((clip, time)) = clip {
        let raw = clip.keys().raw().expect("importers make raw keys");
        for track in raw.tracks() {
            let joint = usize::from(track.joint);
            let value = sample(raw, clip.rotation_blend(), track, time);
            match track.channel {
                Channel::Rotation => rotations[joint] = DQuat::from_slice(&value).normalize(),
                Channel::Translation => translations[joint] = DVec3::from_slice(&value),
                Channel::Scale => scales[joint] = DVec3::from_slice(&value),
            }
        }
    }
    let mut pose: Vec<DAffine3> = Vec::new();
    for joint in 0..skeleton.len() {
        let local = match skeleton
            .matrices()
            .iter()
            .find(|(j, _)| usize::from(*j) == joint)
        {
            Some((_, rows)) => affine(rows),
            None => DAffine3::from_scale_rotation_translation(
                scales[joint],
                rotations[joint],
                translations[joint],
            ),
        };
        let parent = skeleton.parents()[joint];
        pose.push(if parent == NO_PARENT {
            local
        } else {
            pose[usize::from(parent)] * local
        });
    }
    pose
}

fn sample(raw: &RawKeys, blend: RotationBlend, track: &Track, time: f64) -> Vec<f64> {
    let times = raw.times_of(track);
    let width = track.channel.width();
    let cubic = track.interpolation == Interpolation::CubicSpline;
    let numbers = |key: usize, part: usize| -> Vec<f64> {
        let first = track.first_value as usize + if cubic { 3 * key + part } else { key } * width;
        raw.values()[first..first + width]
            .iter()
            .map(|&v| f64::from(v))
            .collect()
    };
    let value = |key| numbers(key, 1);
    let after = times.partition_point(|&t| f64::from(t) <= time);
    if after == 0 || after == times.len() {
        return value(after.saturating_sub(1));
    }
    let (from, to) = (after - 1, after);
    let span = f64::from(times[to]) - f64::from(times[from]);
    let t = (time - f64::from(times[from])) / span;
    let (a, b) = (value(from), value(to));
    match track.interpolation {
        Interpolation::Step => a,
        Interpolation::Linear if track.channel == Channel::Rotation => rotate(
            blend,
            DQuat::from_slice(&a).normalize(),
            DQuat::from_slice(&b).normalize(),
            t,
        )
        .to_array()
        .into(),
        Interpolation::Linear => a.iter().zip(b).map(|(a, b)| a + t * (b - a)).collect(),
        Interpolation::Squad => unreachable!("no format has it"),
        Interpolation::CubicSpline => {
            let (leaving, arriving) = (numbers(from, 2), numbers(to, 0));
            let (t2, t3) = (t * t, t * t * t);
            (0..width)
                .map(|i| {
                    (2.0 * t3 - 3.0 * t2 + 1.0) * a[i]
                        + (t3 - 2.0 * t2 + t) * span * leaving[i]
                        + (-2.0 * t3 + 3.0 * t2) * b[i]
                        + (t3 - t2) * span * arriving[i]
                })
                .collect()
        }
    }
}

fn rotate(blend: RotationBlend, a: DQuat, b: DQuat, t: f64) -> DQuat {
    let shorter = if a.dot(b) < 0.0 { -b } else { b };
    match blend {
        RotationBlend::Slerp => slerp(a, shorter, t),
        RotationBlend::Nlerp => (a * (1.0 - t) + shorter * t).normalize(),
        RotationBlend::AuthoredPath if a.dot(b).abs() >= 0.95 => {
            (a * (1.0 - t) + b * t).normalize()
        }
        RotationBlend::AuthoredPath => slerp(a, b, t),
    }
}

fn slerp(a: DQuat, b: DQuat, t: f64) -> DQuat {
    let angle = 2.0 * (a - b).length().atan2((a + b).length());
    if angle < 1e-12 {
        return a;
    }
    (a * ((1.0 - t) * angle).sin() + b * (t * angle).sin()) * angle.sin().recip()
}

fn affine(rows: &Rows) -> DAffine3 {
    let r = rows.map(f64::from);
    DAffine3::from_cols(
        DVec3::new(r[0], r[4], r[8]),
        DVec3::new(r[1], r[5], r[9]),
        DVec3::new(r[2], r[6], r[10]),
        DVec3::new(r[3], r[7], r[11]),
    )
}

fn vector(v: [f32; 3]) -> DVec3 {
    DVec3::from(v.map(f64::from))
}
