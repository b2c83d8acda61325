//! The vertices that an engine shows, and its verdict: their distances from those that the corpus expects.

use crate::expected::{Direction, Expected, Moment};
use glam::DVec3;
use serde::Deserialize;
use std::collections::BTreeMap;

/// An engine's vertices: the content of a file that README.md describes.
#[derive(Debug, Clone, Deserialize)]
pub struct Answer {
    /// Name of the engine.
    pub engine: String,
    /// Its version.
    #[serde(default)]
    pub version: String,
    /// By the name of the asset.
    pub assets: BTreeMap<String, Answered>,
}

/// An engine's vertices of an asset.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Answered {
    /// Why it shows nothing; empty if it does.
    #[serde(default)]
    pub refused: String,
    /// The vertices at each time, in the order of the expected ones.
    #[serde(default)]
    pub moments: Vec<Shown>,
}

/// An engine's vertices at a time. Numbers that are not finite are null.
#[derive(Debug, Clone, Deserialize)]
pub struct Shown {
    /// In seconds.
    pub time: f64,
    /// In world space.
    pub positions: Vec<[Option<f64>; 3]>,
    /// Of any length; null where there is no direction.
    pub normals: Option<Vec<Option<[Option<f64>; 3]>>>,
    /// As normals, without handedness.
    pub tangents: Option<Vec<Option<[Option<f64>; 3]>>>,
}

/// The verdict on an engine and an asset.
#[derive(Debug, Clone, PartialEq)]
pub enum Judgement {
    /// Within the tolerance.
    Right,
    /// Beyond the tolerance.
    Wrong,
    /// The engine says why it shows nothing.
    Refused(String),
    /// The answer is not of the form that is asked for: what is wrong.
    Unusable(String),
    /// The answer lacks the asset.
    Missing,
}

/// A vertex and where it should be.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Displaced {
    /// Seconds.
    pub time: f64,
    /// Index of the vertex.
    pub vertex: usize,
    /// The expected position.
    pub want: [f64; 3],
    /// The engine's.
    pub got: [Option<f64>; 3],
}

/// The verdict on an engine's vertices of one asset, with their largest errors.
#[derive(Debug, Clone)]
pub struct Judged {
    /// Name of the asset.
    pub asset: String,
    /// `true` if engines need not support it, or if the file is not valid.
    pub optional: bool,
    /// The verdict.
    pub judgement: Judgement,
    /// Largest distance of a position over the diagonal.
    pub position: f64,
    /// Largest angle of a normal or tangent, in radians; `None` if the answer has neither.
    pub direction: Option<f64>,
    /// The vertex with the largest distance.
    pub worst: Displaced,
}

impl Judged {
    /// Returns whether the engine contradicts the specification.
    pub fn fails(&self) -> bool {
        match self.judgement {
            Judgement::Right | Judgement::Refused(_) => false,
            Judgement::Wrong => !self.optional,
            Judgement::Unusable(_) | Judgement::Missing => true,
        }
    }
}

/// Judges an answer by each asset.
pub fn judge(expected: &[Expected], answer: &Answer) -> Vec<Judged> {
    let mut all = Vec::new();
    for expected in expected {
        let mut judged = Judged {
            asset: expected.asset.clone(),
            optional: expected.optional,
            judgement: Judgement::Right,
            position: 0.0,
            direction: None,
            worst: Displaced::default(),
        };
        judged.judgement = match answer.assets.get(&expected.asset) {
            None => Judgement::Missing,
            Some(answered) if !answered.refused.is_empty() => {
                Judgement::Refused(answered.refused.clone())
            }
            Some(answered) => judged.measure(expected, answered),
        };
        all.push(judged);
    }
    all
}

impl Judged {
    fn measure(&mut self, expected: &Expected, answered: &Answered) -> Judgement {
        let times: Vec<f64> = answered.moments.iter().map(|shown| shown.time).collect();
        let wanted: Vec<f64> = expected.moments.iter().map(|moment| moment.time).collect();
        if times != wanted {
            return Judgement::Unusable(format!("times {times:?}; expected {wanted:?}"));
        }
        for (moment, shown) in expected.moments.iter().zip(&answered.moments) {
            let count = moment.positions.len();
            let directions = [&shown.normals, &shown.tangents].into_iter().flatten();
            let mut counts = vec![shown.positions.len()];
            counts.extend(directions.map(Vec::len));
            if let Some(other) = counts.into_iter().find(|&other| other != count) {
                return Judgement::Unusable(format!("{other} vertices; expected {count}"));
            }
            self.include(moment, shown, expected.diagonal);
        }
        let is_right = self.position <= expected.tolerance.position
            && self.direction.unwrap_or(0.0) <= expected.tolerance.direction;
        if is_right {
            Judgement::Right
        } else {
            Judgement::Wrong
        }
    }

    fn include(&mut self, moment: &Moment, shown: &Shown, diagonal: f64) {
        let answers = [&moment.positions].into_iter().chain(&moment.positions_or);
        let mut nearest: Option<(f64, Displaced)> = None;
        for positions in answers {
            let mut farthest = (0.0, Displaced::default());
            for (vertex, (got, want)) in shown.positions.iter().zip(positions).enumerate() {
                let mut distance = vector(got).distance((*want).into()) / diagonal;
                if distance.is_nan() {
                    distance = f64::INFINITY;
                }
                if distance > farthest.0 {
                    let displaced = Displaced {
                        time: moment.time,
                        vertex,
                        want: *want,
                        got: *got,
                    };
                    farthest = (distance, displaced);
                }
            }
            if nearest.is_none_or(|nearest| farthest.0 < nearest.0) {
                nearest = Some(farthest);
            }
        }
        if let Some((distance, displaced)) = nearest
            && distance > self.position
        {
            self.position = distance;
            self.worst = displaced;
        }
        for (got, want, others) in [
            (&shown.normals, &moment.normals, &moment.normals_or),
            (&shown.tangents, &moment.tangents, &Vec::new()),
        ] {
            let Some(got) = got else { continue };
            let angles = want.iter().chain(others).map(|want| widest(got, want));
            if let Some(nearest) = angles.reduce(f64::min) {
                self.direction = Some(self.direction.unwrap_or(0.0).max(nearest));
            }
        }
    }
}

fn vector(numbers: &[Option<f64>; 3]) -> DVec3 {
    numbers.map(|number| number.unwrap_or(f64::NAN)).into()
}

/// The widest angle between directions; those that do not exist are not compared.
fn widest(got: &[Option<[Option<f64>; 3]>], want: &[Direction]) -> f64 {
    let mut widest = 0.0f64;
    for (got, want) in got.iter().zip(want) {
        let Some(want) = want else { continue };
        let got = vector(&got.unwrap_or_default()).normalize_or_zero();
        let want = DVec3::from(*want);
        let angle = 2.0 * f64::atan2((got - want).length(), (got + want).length());
        if got == DVec3::ZERO || angle.is_nan() {
            return std::f64::consts::PI;
        }
        widest = widest.max(angle);
    }
    widest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::all_expected;
    use skinbench_formats::{Request, Vertices, load_with};
    use skinbench_kernels::crowd::{Expression, Layer, REST};
    use skinbench_kernels::model::TargetWeight;
    use skinbench_kernels::simd::Isa;
    use skinbench_kernels::vertex::Attributes;
    use skinbench_kernels::{morph, pose, skin, vertex};
    use std::path::Path;

    /// The corpus' own vertices, as an engine with more precision would show them.
    fn perfect(expected: &[Expected]) -> Answer {
        let all = |rows: &[[f64; 3]]| rows.iter().map(|row| row.map(Some)).collect();
        let mut assets = BTreeMap::new();
        for expected in expected {
            let shown = |moment: &Moment| Shown {
                time: moment.time,
                positions: all(&moment.positions),
                normals: None,
                tangents: None,
            };
            let answered = Answered {
                refused: String::new(),
                moments: expected.moments.iter().map(shown).collect(),
            };
            assets.insert(expected.asset.clone(), answered);
        }
        Answer {
            engine: "perfect".into(),
            version: String::new(),
            assets,
        }
    }

    fn of<'a>(judged: &'a [Judged], asset: &str) -> &'a Judged {
        judged.iter().find(|judged| judged.asset == asset).unwrap()
    }

    #[test]
    fn what_is_wrong_missing_or_refused_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let expected = all_expected(folder.path()).unwrap();
        let mut answer = perfect(&expected);
        let judged = judge(&expected, &answer);
        assert!(
            judged
                .iter()
                .all(|judged| judged.judgement == Judgement::Right)
        );

        let plain = answer.assets.get_mut("plain").unwrap();
        plain.moments[1].positions[7][0] = None;
        let far = answer.assets.get_mut("step").unwrap();
        *far.moments[2].positions[3][1].as_mut().unwrap() += 0.1;
        let eight = answer.assets.get_mut("influences-8").unwrap();
        *eight.moments[0].positions[0][0].as_mut().unwrap() += 0.1;
        answer.assets.get_mut("late-keys").unwrap().moments.pop();
        answer.assets.get_mut("one-key").unwrap().moments[0]
            .positions
            .pop();
        answer.assets.get_mut("quantized").unwrap().refused = "no extensions".into();
        answer.assets.remove("binary");
        let judged = judge(&expected, &answer);
        let plain = of(&judged, "plain");
        assert_eq!(plain.judgement, Judgement::Wrong);
        assert!(
            plain.position.is_infinite() && (plain.worst.time, plain.worst.vertex) == (0.5, 7),
            "{plain:?}"
        );
        let step = of(&judged, "step");
        assert!(
            (step.position * 2.12 - 0.1).abs() < 0.01 && step.worst.vertex == 3,
            "{step:?}"
        );
        assert!(of(&judged, "influences-8").judgement == Judgement::Wrong);
        assert!(!of(&judged, "influences-8").fails());
        assert!(matches!(
            of(&judged, "quantized").judgement,
            Judgement::Refused(_)
        ));
        assert_eq!(plain.direction, None);
        assert_eq!(of(&judged, "binary").judgement, Judgement::Missing);
        for asset in ["late-keys", "one-key"] {
            assert!(
                matches!(of(&judged, asset).judgement, Judgement::Unusable(_)),
                "{asset}"
            );
        }
        let failures = judged.iter().filter(|judged| judged.fails()).count();
        assert_eq!(failures, 5);
    }

    #[test]
    fn either_answer_counts_where_the_specification_is_silent() {
        let folder = tempfile::tempdir().unwrap();
        let expected = all_expected(folder.path()).unwrap();
        let mut answer = perfect(&expected);
        let halves = expected
            .iter()
            .find(|e| e.asset == "weights-sum-half")
            .unwrap();
        let moments = &mut answer.assets.get_mut("weights-sum-half").unwrap().moments;
        for (shown, moment) in moments.iter_mut().zip(&halves.moments) {
            let other = &moment.positions_or[0];
            assert_ne!(other, &moment.positions);
            shown.positions = other.iter().map(|row| row.map(Some)).collect();
        }
        let judged = judge(&expected, &answer);
        assert_eq!(of(&judged, "weights-sum-half").judgement, Judgement::Right);
    }

    #[test]
    fn every_way_to_move_normals_counts_where_the_specification_is_silent() {
        let folder = tempfile::tempdir().unwrap();
        let expected = all_expected(folder.path()).unwrap();
        let name = "untouched-properties";
        let scaled = expected.iter().find(|e| e.asset == name).unwrap();
        for other in 0..3 {
            let mut answer = perfect(&expected);
            let moments = &mut answer.assets.get_mut(name).unwrap().moments;
            for (shown, moment) in moments.iter_mut().zip(&scaled.moments).skip(1) {
                let normals = &moment.normals_or[other];
                assert_ne!(Some(normals), moment.normals.as_ref());
                shown.normals = Some(normals.iter().map(|row| row.map(|n| n.map(Some))).collect());
            }
            let judged = judge(&expected, &answer);
            assert_eq!(of(&judged, name).judgement, Judgement::Right, "{other}");
        }
    }

    /// The kernels for one character, in f32, as one more engine.
    #[test]
    fn our_own_kernels_are_right() {
        let folder = tempfile::tempdir().unwrap();
        let expected = all_expected(folder.path()).unwrap();
        let mut answer = perfect(&expected);
        for expected in &expected {
            let file = folder.path().join(&expected.file);
            let answered = answer.assets.get_mut(&expected.asset).unwrap();
            for (shown, moment) in answered.moments.iter_mut().zip(&expected.moments) {
                *shown = kernels(&file, moment);
            }
        }
        for judged in judge(&expected, &answer) {
            assert_eq!(judged.judgement, Judgement::Right, "{judged:?}");
        }
    }

    fn kernels(file: &Path, moment: &Moment) -> Shown {
        let request = Request {
            file,
            clips: &[],
            vertices: Vertices::All,
        };
        let model = load_with(&request).unwrap();
        let clip = moment.animation.map(|index| &model.clips()[index as usize]);
        let skeleton = model.skeleton();
        let mut local: Vec<pose::Local<1>> = vec![[[0.0]; 10]; skeleton.len()];
        let mut posed: Vec<pose::Affine<1>> = vec![[[0.0]; 12]; skeleton.len()];
        let mut palette = vec![[0.0; 12]; model.palette_joints().len()];
        let mut vertices = vec![[0.0f32; 6]; model.mesh().vertex_count()];
        pose::one::sample(skeleton, clip, moment.time as f32, &mut local);
        pose::one::local_to_model(skeleton, &local, &mut posed);
        pose::one::palette(
            model.palette_joints(),
            model.inverse_binds(),
            &posed,
            &mut palette,
        );
        let format = vertex::VertexFormat::default();
        let layer = [Layer::held(
            moment.animation.unwrap_or(REST),
            moment.time as f32,
        )];
        let mut weights = vec![0.0; model.mesh().targets().len()];
        morph::weights(&model, &layer, Expression::default(), 0, &mut weights);
        let mut active = Vec::new();
        for (target, weight) in (0..).zip(weights) {
            active.push(TargetWeight { target, weight });
        }
        let mut buffer = morph::ShapeBuffer::new(vertices.len(), vertices.len());
        let isa = Isa::strongest();
        let shape = morph::morph(isa, model.mesh(), &active, Attributes::Pn, &mut buffer);
        skin::skin_shape(
            model.mesh(),
            shape,
            &palette,
            format,
            vertices.as_flattened_mut(),
        );
        let mut order: Vec<usize> = (0..vertices.len()).collect();
        order.sort_by_key(|&vertex| model.mesh().sources()[vertex]);
        let rows = |first: usize| -> Vec<[Option<f64>; 3]> {
            let row = |&vertex: &usize| {
                std::array::from_fn(|c| Some(f64::from(vertices[vertex][first + c])))
            };
            order.iter().map(row).collect()
        };
        Shown {
            time: moment.time,
            positions: rows(0),
            normals: moment
                .normals
                .is_some()
                .then(|| rows(3).into_iter().map(Some).collect()),
            tangents: None,
        }
    }
}
