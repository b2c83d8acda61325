//! Morph targets: sparse deltas of primitives, and weights of clips.

use super::document::Document;
use serde_json::{Map, Value, json};
use skinbench_kernels::model::{
    Clip, Interpolation, PrimitiveData, Target, TargetDeltas, WeightKeys,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The targets of some primitives, in rising order.
pub(super) fn of(primitives: &[PrimitiveData]) -> Vec<u32> {
    let all: BTreeSet<u32> = primitives
        .iter()
        .flat_map(|own| &own.targets)
        .map(|deltas| deltas.target)
        .collect();
    all.into_iter().collect()
}

/// The `targets` property of a primitive. Deltas of normals become shorter as the normals do, which glTF requires to be
/// of unit length.
pub(super) fn targets(
    primitive: &PrimitiveData,
    targets: &[u32],
    document: &mut Document,
) -> Value {
    let (none, count) = (TargetDeltas::default(), primitive.positions.len());
    let length = |v: &[f32]| v.iter().map(|c| c * c).sum::<f32>().sqrt();
    let property = |target: &u32| {
        let deltas = primitive
            .targets
            .iter()
            .find(|deltas| deltas.target == *target)
            .unwrap_or(&none);
        let mut attributes = Map::new();
        let mut set = |name: &str, stream: usize, length: &dyn Fn(usize) -> f32| {
            let shortened = deltas.vertices.iter().map(|&(vertex, deltas)| {
                let (length, delta) = (length(vertex as usize), deltas[stream]);
                (
                    vertex,
                    if length > 0.0 {
                        delta.map(|c| c / length)
                    } else {
                        delta
                    },
                )
            });
            let listed: Vec<_> = shortened.filter(|(_, delta)| *delta != [0.0; 3]).collect();
            attributes.insert(name.into(), json!(document.sparse(&listed, count)));
        };
        set("POSITION", 0, &|_| 1.0);
        if let Some(normals) = &primitive.normals {
            set("NORMAL", 1, &|vertex| length(&normals[vertex]));
            if let Some(tangents) = &primitive.tangents {
                set("TANGENT", 2, &|vertex| length(&tangents[vertex][..3]));
            }
        }
        Value::Object(attributes)
    };
    Value::Array(targets.iter().map(property).collect())
}

/// The targets of a run of primitives, in rising order.
pub(super) struct RunTargets {
    /// Those with deltas.
    moving: Vec<u32>,
    /// These, and those without a delta that stay with them.
    pub(super) all: Vec<u32>,
}

/// The targets of each run of primitives. A target without a delta stays with those whose weights it shares a track with.
/// Without such a track it stays with the one before it, as the targets of one node of a file are neighbours, unless a
/// clip sets the weights there: each key would get a weight more, for nothing.
pub(super) fn of_runs(runs: &[&[PrimitiveData]], clips: &[Clip], targets: u32) -> Vec<RunTargets> {
    let mut of_runs = Vec::with_capacity(runs.len());
    let mut moving: BTreeMap<u32, usize> = BTreeMap::new();
    let mut is_animated = Vec::with_capacity(runs.len());
    for (run, primitives) in runs.iter().enumerate() {
        let own = of(primitives);
        for &target in &own {
            moving.entry(target).or_insert(run);
        }
        let is_set = |target: &u32| clips.iter().any(|clip| track_of(clip, *target).is_some());
        is_animated.push(own.iter().any(is_set));
        of_runs.push(RunTargets {
            all: own.clone(),
            moving: own,
        });
    }
    for target in (0..targets).filter(|target| !moving.contains_key(target)) {
        let tracks = clips.iter().filter_map(|clip| track_of(clip, target));
        let mut ranges = tracks.map(|track| track.targets.clone());
        let run = ranges
            .find_map(|range| neighbour(&moving, range, target))
            .or_else(|| neighbour(&moving, 0..targets, target).filter(|&run| !is_animated[run]));
        if let Some(run) = run {
            of_runs[run].all.push(target);
        }
    }
    of_runs.iter_mut().for_each(|own| own.all.sort_unstable());
    of_runs
}

/// The track that sets a target's weight in a clip.
fn track_of(clip: &Clip, target: u32) -> Option<&WeightKeys> {
    let tracks = clip.weights();
    let at = tracks.partition_point(|track| track.targets.end <= target);
    tracks
        .get(at)
        .filter(|track| track.targets.contains(&target))
}

/// Returns whether a track sets the weight of any of these targets, which rise.
fn sets_any(track: &WeightKeys, targets: &[u32]) -> bool {
    let first = targets.partition_point(|&target| target < track.targets.start);
    targets
        .get(first)
        .is_some_and(|&target| target < track.targets.end)
}

/// The run of the last moving target of a range before a target, or of the first one after it.
fn neighbour(moving: &BTreeMap<u32, usize>, range: Range<u32>, target: u32) -> Option<usize> {
    let before = moving.range(range.start..target).next_back();
    let after = moving.range(target..range.end).next();
    before.or(after).map(|(_, run)| *run)
}

/// The weights of a run's targets in a clip, from the first key to the clip's end; `None` if no track sets one that has
/// deltas. Tracks that set only targets without a delta are left out.
///
/// If all tracks have keys at the same times and the same interpolation, the keys stay as they are. Otherwise the weights
/// are sampled at the keys of all tracks, and between them as often as linear interpolation needs.
pub(super) fn weights(clip: &Clip, list: &[Target], own: &RunTargets) -> Option<WeightKeys> {
    let RunTargets {
        moving,
        all: targets,
    } = own;
    let tracks = clip.weights().iter();
    let tracks: Vec<&WeightKeys> = tracks.filter(|track| sets_any(track, moving)).collect();
    let (first, end) = (*tracks.first()?, clip.duration());
    let is_alike = |track: &&WeightKeys| {
        track.interpolation == first.interpolation && track.times == first.times
    };
    let curves = Curves {
        tracks: &tracks,
        list,
        targets,
    };
    let all = 0..targets.len() as u32;
    if tracks.iter().all(is_alike) && first.times.last().is_some_and(|&last| last <= end) {
        let mut values = Vec::new();
        for key in 0..first.times.len() {
            for part in 0..first.interpolation.values_per_key() {
                curves.push_key(key, part, &mut values);
            }
        }
        return Some(WeightKeys {
            targets: all,
            interpolation: first.interpolation,
            times: first.times.clone(),
            values,
        });
    }
    let has = |interpolation| {
        tracks
            .iter()
            .any(|track| track.interpolation == interpolation)
    };
    let smooth = has(Interpolation::Linear) || has(Interpolation::CubicSpline);
    let mut times: Vec<f32> = Vec::new();
    for track in &tracks {
        for time in track.times.iter().map(|time| time.min(end)) {
            // Among linear keys, a step takes two.
            if smooth && track.interpolation == Interpolation::Step && time > track.times[0] {
                times.push(time.next_down());
            }
            times.push(time);
        }
    }
    times.sort_unstable_by(f32::total_cmp);
    times.dedup();
    let mut made = WeightKeys {
        targets: all,
        interpolation: if smooth {
            Interpolation::Linear
        } else {
            Interpolation::Step
        },
        times: Vec::with_capacity(times.len()),
        values: Vec::with_capacity(times.len() * targets.len()),
    };
    for time in times {
        if let Some(&last) = made.times.last()
            && has(Interpolation::CubicSpline)
        {
            curves.subdivide(last, time, DEPTH, &mut made);
        }
        made.times.push(time);
        made.values.extend(curves.at(time));
    }
    Some(made)
}

/// Largest relative error of resampled weights.
const TOLERANCE: f32 = 1e-6;
/// Most halvings of one interval.
const DEPTH: u32 = 10;

/// The weights of some targets over time.
struct Curves<'a> {
    tracks: &'a [&'a WeightKeys],
    /// All targets of the model.
    list: &'a [Target],
    targets: &'a [u32],
}

impl Curves<'_> {
    /// Appends value `part` of a key that all tracks have. A target without a track keeps its default weight.
    fn push_key(&self, key: usize, part: usize, values: &mut Vec<f32>) {
        for target in self.targets {
            let track = self
                .tracks
                .iter()
                .find(|track| track.targets.contains(target));
            values.push(match track {
                Some(track) => track.key(key, part)[(target - track.targets.start) as usize],
                None if part == self.tracks[0].interpolation.value_of_key() => {
                    self.list[*target as usize].weight
                }
                // Tangents.
                None => 0.0,
            });
        }
    }

    fn at(&self, time: f32) -> Vec<f32> {
        let mut all: Vec<f32> = self.list.iter().map(|target| target.weight).collect();
        for track in self.tracks {
            track.sample(time, |target, weight| all[target] = weight);
        }
        self.targets
            .iter()
            .map(|&target| all[target as usize])
            .collect()
    }

    /// Adds keys between two times until straight lines between them follow the curves.
    fn subdivide(&self, from: f32, to: f32, depth: u32, made: &mut WeightKeys) {
        let middle = from + (to - from) / 2.0;
        if depth == 0 || !(from < middle && middle < to) {
            return;
        }
        let (a, b) = (self.at(from), self.at(to));
        let is_off = |t: f32| {
            let exact = self.at(from + t * (to - from));
            let ends = a.iter().zip(&b);
            ends.zip(&exact).any(|((a, b), exact)| {
                (a + t * (b - a) - exact).abs() > TOLERANCE * (1.0 + exact.abs())
            })
        };
        if [0.25, 0.5, 0.75].into_iter().any(is_off) {
            self.subdivide(from, middle, depth - 1, made);
            made.times.push(middle);
            made.values.extend(self.at(middle));
            self.subdivide(middle, to, depth - 1, made);
        }
    }
}
