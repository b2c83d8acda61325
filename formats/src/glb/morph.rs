//! Morph targets: sparse deltas of primitives, and weights of clips.

use super::document::Document;
use crate::subdivide::subdivide;
use glam::Vec3;
use serde_json::{Value, json};
use skinbench_kernels::model::{
    Clip, Interpolation, PrimitiveData, Target, TargetDeltas, WeightKeys,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The `targets` property of a primitive. Deltas of normals become shorter as the normals do, which glTF requires to be
/// of unit length.
pub fn targets(primitive: &PrimitiveData, targets: &[u32], document: &mut Document) -> Value {
    let count = primitive.positions.len();
    let none = TargetDeltas::default();
    let mut list = Vec::new();
    for target in targets {
        let mut deltas = primitive.targets.iter();
        let deltas = deltas
            .find(|deltas| deltas.target == *target)
            .unwrap_or(&none);
        let mut write = |stream, length: &dyn Fn(usize) -> f32| {
            let mut vertices = Vec::new();
            let mut values = Vec::new();
            for &(vertex, deltas) in &deltas.vertices {
                let length = length(vertex as usize);
                let delta: [f32; 3] = deltas[stream];
                let delta = if length > 0.0 {
                    delta.map(|c| c / length)
                } else {
                    delta
                };
                if delta != [0.0; 3] {
                    vertices.push(vertex);
                    values.push(delta);
                }
            }
            document.sparse(&vertices, &values, count)
        };
        let mut attributes = json!({"POSITION": write(0, &|_| 1.0)});
        if let Some(normals) = &primitive.normals {
            let length = |vertex: usize| Vec3::from(normals[vertex]).length();
            attributes["NORMAL"] = json!(write(1, &length));
            if let Some(tangents) = &primitive.tangents {
                let length = |vertex: usize| Vec3::from_slice(&tangents[vertex]).length();
                attributes["TANGENT"] = json!(write(2, &length));
            }
        }
        list.push(attributes);
    }
    Value::Array(list)
}

/// The targets of a run of primitives, in rising order.
pub struct RunTargets {
    /// Those with deltas.
    moving: BTreeSet<u32>,
    /// These, and those without a delta that stay with them.
    pub all: Vec<u32>,
}

impl RunTargets {
    /// The targets of each run of primitives. A target without a delta stays with those whose weights it shares a track
    /// with. Without such a track it stays with the one before it, as the targets of one node of a file are neighbours,
    /// unless a clip sets the weights there: each key would get a weight more, for nothing.
    pub fn of_runs(runs: &[&[PrimitiveData]], clips: &[Clip], targets: u32) -> Vec<Self> {
        let mut of_runs: Vec<Self> = Vec::new();
        let mut run_of: BTreeMap<u32, usize> = BTreeMap::new();
        for (run, primitives) in runs.iter().enumerate() {
            let deltas = primitives.iter().flat_map(|primitive| &primitive.targets);
            let moving: BTreeSet<u32> = deltas.map(|deltas| deltas.target).collect();
            for &target in &moving {
                run_of.entry(target).or_insert(run);
            }
            of_runs.push(Self {
                all: moving.iter().copied().collect(),
                moving,
            });
        }
        for target in 0..targets {
            if run_of.contains_key(&target) {
                continue;
            }
            let mut tracks = clips.iter().filter_map(|clip| track_of(clip, target));
            let run = tracks.find_map(|track| neighbour(&run_of, track.targets.clone(), target));
            let run = run.or_else(|| {
                let run = neighbour(&run_of, 0..targets, target)?;
                let mut moving = of_runs[run].moving.iter();
                let is_set =
                    moving.any(|&target| clips.iter().any(|c| track_of(c, target).is_some()));
                (!is_set).then_some(run)
            });
            if let Some(run) = run {
                of_runs[run].all.push(target);
            }
        }
        for targets in &mut of_runs {
            targets.all.sort_unstable();
        }
        of_runs
    }
}

/// The track that sets a target's weight in a clip.
fn track_of(clip: &Clip, target: u32) -> Option<&WeightKeys> {
    let tracks = clip.weights();
    let at = tracks.partition_point(|track| track.targets.end <= target);
    tracks
        .get(at)
        .filter(|track| track.targets.contains(&target))
}

/// The run of the last moving target of a range before a target, or of the first one after it.
fn neighbour(run_of: &BTreeMap<u32, usize>, range: Range<u32>, target: u32) -> Option<usize> {
    let before = run_of.range(range.start..target).next_back();
    let after = run_of.range(target..range.end).next();
    let (_, run) = before.or(after)?;
    Some(*run)
}

/// The weights of a run's targets in a clip, from the first key to the clip's end; `None` if no track sets one that has
/// deltas. Tracks that set only targets without a delta are left out.
///
/// If all tracks have keys at the same times and the same interpolation, the keys stay as they are. Otherwise the weights
/// are sampled at the keys of all tracks, and between them as often as linear interpolation needs.
pub fn weights(clip: &Clip, list: &[Target], targets: &RunTargets) -> Option<WeightKeys> {
    let mut tracks = Vec::new();
    for track in clip.weights() {
        if targets.moving.range(track.targets.clone()).next().is_some() {
            tracks.push(track);
        }
    }
    let first = *tracks.first()?;
    let end = clip.duration();
    let mut keys = WeightKeys {
        targets: 0..targets.all.len() as u32,
        interpolation: first.interpolation,
        times: Vec::new(),
        values: Vec::new(),
    };
    let are_alike = tracks
        .iter()
        .all(|track| track.interpolation == first.interpolation && track.times == first.times);
    let curves = Curves {
        tracks,
        list,
        targets: &targets.all,
    };
    if are_alike && first.times.last().is_some_and(|&last| last <= end) {
        keys.times = first.times.clone();
        for key in 0..first.times.len() {
            for value in 0..first.interpolation.values_per_key() {
                curves.push_value(key, value, &mut keys.values);
            }
        }
        return Some(keys);
    }
    let is_curved = curves.have(Interpolation::CubicSpline);
    let is_smooth = is_curved || curves.have(Interpolation::Linear);
    keys.interpolation = if is_smooth {
        Interpolation::Linear
    } else {
        Interpolation::Step
    };
    let mut times: Vec<f32> = Vec::new();
    for track in &curves.tracks {
        for time in track.times.iter().map(|time| time.min(end)) {
            // Among linear keys, a step takes two.
            if is_smooth && track.interpolation == Interpolation::Step && time > track.times[0] {
                times.push(time.next_down());
            }
            times.push(time);
        }
    }
    times.sort_unstable_by(f32::total_cmp);
    times.dedup();
    for time in times {
        if let Some(&last) = keys.times.last()
            && is_curved
        {
            keys.times.extend(subdivide(last, time, DEPTH, &|from, to| {
                curves.are_off(from, to)
            }));
        }
        keys.times.push(time);
    }
    for &time in &keys.times {
        keys.values.extend(curves.at(time));
    }
    Some(keys)
}

/// Largest relative error of resampled weights.
const TOLERANCE: f32 = 1e-6;
/// Most halvings of one interval.
const DEPTH: u32 = 10;

/// The weights of some targets over time.
struct Curves<'a> {
    tracks: Vec<&'a WeightKeys>,
    /// All targets of the model.
    list: &'a [Target],
    targets: &'a [u32],
}

impl Curves<'_> {
    fn have(&self, interpolation: Interpolation) -> bool {
        let mut tracks = self.tracks.iter();
        tracks.any(|track| track.interpolation == interpolation)
    }

    /// Appends one of the values of a key that all tracks have. A target without a track keeps its default weight.
    fn push_value(&self, key: usize, value: usize, values: &mut Vec<f32>) {
        for target in self.targets {
            let mut tracks = self.tracks.iter();
            values.push(match tracks.find(|track| track.targets.contains(target)) {
                Some(track) => track.key(key, value)[(target - track.targets.start) as usize],
                None if value == self.tracks[0].interpolation.value_of_key() => {
                    self.list[*target as usize].weight
                }
                // Tangents.
                None => 0.0,
            });
        }
    }

    fn at(&self, time: f32) -> Vec<f32> {
        let mut all: Vec<f32> = self.list.iter().map(|target| target.weight).collect();
        for track in &self.tracks {
            track.sample(time, |target, weight| all[target] = weight);
        }
        let targets = self.targets.iter();
        targets.map(|&target| all[target as usize]).collect()
    }

    /// Returns whether straight lines between two times leave the curves.
    fn are_off(&self, from: f32, to: f32) -> bool {
        let a = self.at(from);
        let b = self.at(to);
        for t in [0.25, 0.5, 0.75] {
            let exact = self.at(from + t * (to - from));
            for (target, exact) in exact.iter().enumerate() {
                let line = a[target] + t * (b[target] - a[target]);
                if (line - exact).abs() > TOLERANCE * (1.0 + exact.abs()) {
                    return true;
                }
            }
        }
        false
    }
}
