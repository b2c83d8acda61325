//! Combinations of settings: a covering array of small crowds, in which every pair of values occurs that is allowed.
//! Every backend agrees with the reference on each, or refuses it.
//!
//! `scripts/combinations` covers all triples.

#[cfg(feature = "gpu")]
use super::common::context_with;
use super::common::{context, small_scene_file};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use skinbench::backend::Context;
use skinbench::harness::Status;
use skinbench::harness::run::{self, RunOptions};
use skinbench::registry::REGISTRY;
use skinbench::scene::{Clips, Interpolation, Lod, Output, Scene, Settings, words};
use skinbench::simd::Isa;
use skinbench::threads::Threads;
use skinbench::vertex::{Attributes, Normals};
use std::collections::HashSet;

/// Number of values that occur together, if not 2.
const STRENGTH: &str = "SKINBENCH_STRENGTH";
/// Rows that are tried for each row of the array.
const CANDIDATES: usize = 12;
const SEED: u64 = 59;

/// Scenes of one model, of models with and without tangents, of people, of layers and of morph targets.
const SCENES: [&str; 6] = ["smoke", "zoo", "city", "street", "layers-4", "faces"];
/// Ways of saving poses, of changing crowds, and levels of detail, which exclude each other.
const REUSES: [&str; 6] = [
    "none",
    "update-rate",
    "turnover",
    "frozen",
    "turnover and frozen",
    "levels",
];
const ATTRIBUTES: [Attributes; 3] = Attributes::ALL;
const NORMALS: [Normals; 3] = Normals::ALL;
const OUTPUTS: [Output; 3] = [Output::F32, Output::Packed, Output::Ring];
const INFLUENCES: [Option<u32>; 3] = [None, Some(1), Some(3)];

/// What a combination chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Factor {
    Scene,
    Reuse,
    Attributes,
    Normals,
    Output,
    Influences,
    Clips,
    Interpolation,
    Motion,
    Bounds,
    Sockets,
    Threads,
    Isa,
    GroupOrder,
    Bindings,
}

const FACTORS: [Factor; 15] = [
    Factor::Scene,
    Factor::Reuse,
    Factor::Attributes,
    Factor::Normals,
    Factor::Output,
    Factor::Influences,
    Factor::Clips,
    Factor::Interpolation,
    Factor::Motion,
    Factor::Bounds,
    Factor::Sockets,
    Factor::Threads,
    Factor::Isa,
    Factor::GroupOrder,
    Factor::Bindings,
];

impl Factor {
    /// Number of its values.
    fn values(self) -> usize {
        match self {
            Self::Scene => SCENES.len(),
            Self::Reuse => REUSES.len(),
            Self::Attributes => ATTRIBUTES.len(),
            Self::Normals => NORMALS.len(),
            Self::Output => OUTPUTS.len(),
            Self::Influences => INFLUENCES.len(),
            Self::Isa => Isa::available().count(),
            Self::Clips
            | Self::Interpolation
            | Self::Motion
            | Self::Bounds
            | Self::Sockets
            | Self::Threads
            | Self::GroupOrder
            | Self::Bindings => 2,
        }
    }
}

/// A value of each factor, by index.
type Row = [usize; FACTORS.len()];

/// Some factors, by index, with a value of each.
type Tuple = Vec<(usize, usize)>;

/// Returns whether two values may occur together. Bounds of meshes with morph targets have no limit, a socket names a
/// joint of every model, and a ring keeps no frame to compare with the next.
fn may_meet(one: (Factor, usize), other: (Factor, usize)) -> bool {
    let excluded = |(first, value): (Factor, usize), (second, beside): (Factor, usize)| {
        let scene = |name: &str| first == Factor::Scene && SCENES[value] == name;
        let on = beside == 1;
        (second == Factor::Bounds && on && scene("faces"))
            || (second == Factor::Sockets && on && scene("zoo"))
            || (second == Factor::Motion
                && on
                && first == Factor::Output
                && OUTPUTS[value] == Output::Ring)
    };
    !excluded(one, other) && !excluded(other, one)
}

/// All tuples of `strength` values that may occur together.
fn tuples(strength: usize) -> Vec<Tuple> {
    let mut all: Vec<Tuple> = vec![Vec::new()];
    for _ in 0..strength {
        let mut longer = Vec::new();
        for tuple in all {
            let first = tuple.last().map_or(0, |(factor, _)| factor + 1);
            for (factor, own) in FACTORS.iter().enumerate().skip(first) {
                for value in 0..own.values() {
                    if fits(&tuple, factor, value) {
                        let mut tuple = tuple.clone();
                        tuple.push((factor, value));
                        longer.push(tuple);
                    }
                }
            }
        }
        all = longer;
    }
    all
}

/// Returns whether a value may occur with all of a tuple.
fn fits(tuple: &[(usize, usize)], factor: usize, value: usize) -> bool {
    let added = (FACTORS[factor], value);
    tuple
        .iter()
        .all(|(factor, value)| may_meet((FACTORS[*factor], *value), added))
}

/// A number below another.
fn below(random: &mut Pcg32, most: usize) -> usize {
    random.next_u32() as usize % most
}

/// Rows in which every tuple occurs, found greedily: each row begins with a tuple that is missing, and takes for every
/// other factor the value with which most missing tuples occur.
fn covering(strength: usize) -> Vec<Row> {
    let mut random = Pcg32::seed_from_u64(SEED);
    let mut missing: HashSet<Tuple> = tuples(strength).into_iter().collect();
    let mut rows = Vec::new();
    while !missing.is_empty() {
        // In an order that does not depend on hashes.
        let mut list: Vec<&Tuple> = missing.iter().collect();
        list.sort();
        let mut best: Option<(usize, Row)> = None;
        for _ in 0..CANDIDATES {
            let start = list[below(&mut random, list.len())];
            let row = filled(start, &list, &mut random);
            let gain = list.iter().filter(|tuple| occurs(tuple, &row)).count();
            if best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, row));
            }
        }
        let (_, row) = best.unwrap();
        missing.retain(|tuple| !occurs(tuple, &row));
        rows.push(row);
    }
    rows
}

fn occurs(tuple: &[(usize, usize)], row: &Row) -> bool {
    tuple.iter().all(|(factor, value)| row[*factor] == *value)
}

/// A row with a tuple.
fn filled(start: &[(usize, usize)], missing: &[&Tuple], random: &mut Pcg32) -> Row {
    let mut chosen = start.to_vec();
    // Only tuples that agree with what is chosen so far can still occur.
    let mut open: Vec<&Tuple> = missing.to_vec();
    let mut rest: Vec<usize> = (0..FACTORS.len())
        .filter(|factor| start.iter().all(|(own, _)| own != factor))
        .collect();
    while !rest.is_empty() {
        let factor = rest.swap_remove(below(random, rest.len()));
        open.retain(|tuple| {
            tuple.iter().all(|(own, value)| {
                let known = chosen.iter().find(|(chosen, _)| chosen == own);
                known.is_none_or(|(_, chosen)| chosen == value)
            })
        });
        let count = FACTORS[factor].values();
        let mut gains = vec![0; count];
        for tuple in &open {
            if let Some((_, value)) = tuple.iter().find(|(own, _)| *own == factor) {
                gains[*value] += 1;
            }
        }
        let first = below(random, count);
        let value = (0..count)
            .map(|value| (first + value) % count)
            .filter(|value| fits(&chosen, factor, *value))
            .max_by_key(|value| gains[*value])
            .unwrap();
        chosen.push((factor, value));
    }
    let mut row = [0; FACTORS.len()];
    for (factor, value) in chosen {
        row[factor] = value;
    }
    row
}

/// Bytes of a binding of an adapter on which a crowd takes several: the largest character of all scenes, star-64 with
/// tangents, just fits.
#[cfg(feature = "gpu")]
const SMALL_BINDING: u64 = 100 << 10;

/// The adapter as it is, and with small bindings, so that crowds take several chunks and batches.
fn machines() -> [Context; 2] {
    let whole = context();
    #[cfg(feature = "gpu")]
    let divided = context_with(|gpu| gpu.adapter.binding_limit = SMALL_BINDING);
    #[cfg(not(feature = "gpu"))]
    let divided = None;
    let divided = divided.unwrap_or_else(|| whole.clone());
    [whole, divided]
}

/// The text of a scene file with its groups in reverse order.
fn with_groups_reversed(text: &str) -> String {
    const HEADING: &str = "[[group]]\n";
    let parts: Vec<&str> = text.split(HEADING).collect();
    let mut reversed = parts[0].to_owned();
    for group in parts[1..].iter().rev() {
        reversed += HEADING;
        reversed += group;
        reversed += "\n";
    }
    reversed
}

/// A crowd, and the machine that it runs on.
struct Combination {
    scene: Scene,
    settings: Settings,
    isa: Isa,
    threads: usize,
    /// `true` if groups stand in reverse order.
    is_reversed: bool,
    /// `true` on the adapter with small bindings.
    is_divided: bool,
}

impl Combination {
    fn new(row: &Row) -> Self {
        let value = |factor: Factor| row[FACTORS.iter().position(|own| *own == factor).unwrap()];
        let is_on = |factor: Factor| value(factor) == 1;
        let name = SCENES[value(Factor::Scene)];
        let mut settings = Settings {
            // Few, because every vertex of all of them is compared; the zoo has one or two of each of its ten models.
            instances: Some(if name == "zoo" { 12 } else { 9 }),
            vertices: (name != "zoo").then_some(500),
            models: (name == "city").then_some(3),
            passes: Some(1),
            attributes: Some(ATTRIBUTES[value(Factor::Attributes)]),
            normals: Some(NORMALS[value(Factor::Normals)]),
            output: Some(OUTPUTS[value(Factor::Output)]),
            influences: INFLUENCES[value(Factor::Influences)],
            clips: Some([Clips::Raw, Clips::Compact][value(Factor::Clips)]),
            interpolation: Some(
                [Interpolation::Authored, Interpolation::Smooth][value(Factor::Interpolation)],
            ),
            motion: is_on(Factor::Motion),
            bounds: is_on(Factor::Bounds),
            sockets: is_on(Factor::Sockets)
                .then(|| "head".to_owned())
                .into_iter()
                .collect(),
            ..Settings::default()
        };
        let reuse = REUSES[value(Factor::Reuse)];
        settings.update_rate = (reuse == "update-rate").then_some([4.0, 7.0]);
        settings.turnover = reuse.contains("turnover").then_some(0.2);
        settings.frozen = reuse.contains("frozen").then_some(0.5);
        settings.lod = (reuse == "levels").then_some(Lod::Mesh);
        let is_reversed = is_on(Factor::GroupOrder);
        let mut file = small_scene_file(name);
        if is_reversed {
            file.text = with_groups_reversed(&file.text);
        }
        Self {
            scene: file.read().unwrap(),
            settings,
            isa: Isa::available().nth(value(Factor::Isa)).unwrap(),
            threads: 1 + value(Factor::Threads),
            is_reversed,
            is_divided: is_on(Factor::Bindings),
        }
    }

    /// The command that verifies it, except for the size of the picture, and a comment on what no option says.
    fn command(&self) -> String {
        let mut command = format!(
            "SKINBENCH_ISA={} skinbench verify {} --threads {}",
            self.isa.name(),
            self.scene.name,
            self.threads
        );
        for (name, value) in self.settings.chosen() {
            let name = name.replace('_', "-");
            command += &format!(" --{name} {}", words(&value).join(","));
        }
        if self.is_reversed {
            command += " # groups reversed";
        }
        if self.is_divided {
            command += " # small bindings";
        }
        command
    }

    /// Verifies all backends; returns a line for each that differs from the reference.
    fn failures(&self, machines: &[Context; 2]) -> Vec<String> {
        let command = self.command();
        let scene = self.scene.clone().with(self.settings.clone());
        let scene = scene
            .build(u64::MAX)
            .unwrap_or_else(|error| panic!("{command}: {error}"));
        let context = Context {
            isa: self.isa,
            threads: Threads::new(self.threads).unwrap(),
            ..machines[usize::from(self.is_divided)].clone()
        };
        let options = RunOptions {
            backends: REGISTRY.iter().collect(),
            ..RunOptions::default()
        };
        let outcomes = run::verify(&scene, &context, &options, &mut ()).unwrap();
        let agreed = outcomes.iter().filter(|o| o.status == Status::Ok).count();
        let problems: Vec<_> = outcomes.iter().map(|o| &o.problem).collect();
        assert!(
            agreed >= 2,
            "{command}: {agreed} backends ran: {problems:?}"
        );
        let mut failures = Vec::new();
        for outcome in &outcomes {
            let may_be_refused = match outcome.status {
                Status::Ok | Status::Skipped => true,
                // Baked clips lie in one binding.
                Status::TooLarge => self.is_divided,
                _ => false,
            };
            if !may_be_refused {
                let problem = outcome.problem.as_deref().unwrap_or_default();
                failures.push(format!("{command} -b {}: {problem}", outcome.name));
            }
        }
        failures
    }
}

/// The rows that cover all tuples; those of one half or the other, which two threads verify at once.
fn verify_half(half: usize) {
    let strength = match std::env::var(STRENGTH) {
        Ok(number) => number.parse().unwrap(),
        Err(_) => 2,
    };
    let rows = covering(strength);
    let machines = machines();
    let mut failures = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        if index % 2 == half {
            let combination = Combination::new(row);
            println!("{} of {}: {}", index + 1, rows.len(), combination.command());
            failures.extend(combination.failures(&machines));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_pair_of_settings_agrees_in_the_first_half() {
    verify_half(0);
}

#[test]
fn every_pair_of_settings_agrees_in_the_second_half() {
    verify_half(1);
}

#[test]
fn every_pair_that_is_allowed_occurs_in_few_rows() {
    let rows = covering(2);
    println!("{} rows", rows.len());
    assert!(rows.len() <= 70, "{} rows", rows.len());
    for tuple in tuples(2) {
        assert!(rows.iter().any(|row| occurs(&tuple, row)), "{tuple:?}");
    }
    for row in &rows {
        let all: Tuple = row.iter().copied().enumerate().collect();
        for (factor, value) in &all {
            assert!(fits(&all, *factor, *value), "{row:?}");
        }
    }
    assert_eq!(rows, covering(2), "the seed decides");
}
