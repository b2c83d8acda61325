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
use skinbench::scene::{Scene, Setting, Settings, argument};
use skinbench::simd::Isa;
use skinbench::threads::Threads;
use std::collections::HashSet;

/// Number of values that occur together, if not 2.
const STRENGTH: &str = "SKINBENCH_STRENGTH";
/// Rows that are tried for each row of the array.
const CANDIDATES: usize = 12;
const SEED: u64 = 59;

/// Scenes of one model, of models with and without tangents, of people, of layers and of morph targets.
const SCENES: [&str; 6] = ["smoke", "zoo", "city", "street", "layers-4", "faces"];

/// What a combination chooses.
#[derive(Debug, Clone, Copy)]
enum Choice {
    Scene,
    /// A value that a setting is tried with, or none.
    Setting(&'static Setting),
    Threads,
    Isa,
    GroupOrder,
    Bindings,
}

impl Choice {
    /// Number of its values.
    fn values(self) -> usize {
        match self {
            Self::Scene => SCENES.len(),
            Self::Setting(setting) => 1 + setting.tried.len(),
            Self::Isa => Isa::available().count(),
            Self::Threads | Self::GroupOrder | Self::Bindings => 2,
        }
    }

    /// The settings that a value stands for.
    fn settings(self, value: usize) -> Settings {
        match self {
            Self::Setting(setting) if value > 0 => parsed(setting, setting.tried[value - 1]),
            _ => Settings::default(),
        }
    }
}

/// The settings of an argument with this value; empty for a switch.
fn parsed(setting: &Setting, value: &str) -> Settings {
    let mut word = argument(setting.name);
    if !value.is_empty() {
        word += &format!("={value}");
    }
    Settings::parse(&[word]).unwrap()
}

/// All choices, and which of their values may occur together.
struct Factors {
    choices: Vec<Choice>,
    /// `[factor][value][other][value of the other]`.
    may_meet: Vec<Vec<Vec<Vec<bool>>>>,
}

impl Factors {
    fn new() -> Self {
        let settings = Settings::ALL.iter();
        let tried = settings.filter(|setting| !setting.tried.is_empty());
        let mut choices = vec![Choice::Scene];
        choices.extend(tried.map(Choice::Setting));
        choices.extend([
            Choice::Threads,
            Choice::Isa,
            Choice::GroupOrder,
            Choice::Bindings,
        ]);
        let mut all = Vec::new();
        for &choice in &choices {
            all.push(
                (0..choice.values())
                    .map(|value| (choice, value))
                    .collect::<Vec<_>>(),
            );
        }
        let with_others = |one: &(Choice, usize)| {
            let others = all.iter();
            others
                .map(|other| other.iter().map(|other| may_meet(*one, *other)).collect())
                .collect()
        };
        let may_meet = all
            .iter()
            .map(|own| own.iter().map(with_others).collect())
            .collect();
        Self { choices, may_meet }
    }

    /// Returns whether a value may occur with all of a tuple.
    fn fits(&self, tuple: &[(usize, usize)], factor: usize, value: usize) -> bool {
        tuple
            .iter()
            .all(|(other, beside)| self.may_meet[factor][value][*other][*beside])
    }
}

/// Returns whether two values may occur together. Bounds of meshes with morph targets have no limit, and a socket names a
/// joint of every model.
fn may_meet(one: (Choice, usize), other: (Choice, usize)) -> bool {
    let excluded = |(first, value): (Choice, usize), (second, beside): (Choice, usize)| {
        let Choice::Setting(setting) = second else {
            return false;
        };
        let scene = |name: &str| matches!(first, Choice::Scene) && SCENES[value] == name;
        beside > 0
            && (setting.name == "bounds" && scene("faces")
                || setting.name == "sockets" && scene("zoo"))
    };
    let both = one.0.settings(one.1).with(other.0.settings(other.1));
    !excluded(one, other) && !excluded(other, one) && both.check().is_ok()
}

/// A value of each factor, by index.
type Row = Vec<usize>;

/// Some factors, by index, with a value of each.
type Tuple = Vec<(usize, usize)>;

/// All tuples of `strength` values that may occur together.
fn tuples(factors: &Factors, strength: usize) -> Vec<Tuple> {
    let mut all: Vec<Tuple> = vec![Vec::new()];
    for _ in 0..strength {
        let mut longer = Vec::new();
        for tuple in all {
            let first = tuple.last().map_or(0, |(factor, _)| factor + 1);
            for (factor, own) in factors.choices.iter().enumerate().skip(first) {
                for value in 0..own.values() {
                    if factors.fits(&tuple, factor, value) {
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

/// A number below another.
fn below(random: &mut Pcg32, most: usize) -> usize {
    random.next_u32() as usize % most
}

/// Rows in which every tuple occurs, found greedily: each row begins with a tuple that is missing, and takes for every
/// other factor the value with which most missing tuples occur.
fn covering(factors: &Factors, strength: usize) -> Vec<Row> {
    let mut random = Pcg32::seed_from_u64(SEED);
    let mut missing: HashSet<Tuple> = tuples(factors, strength).into_iter().collect();
    let mut rows = Vec::new();
    while !missing.is_empty() {
        // In an order that does not depend on hashes.
        let mut list: Vec<&Tuple> = missing.iter().collect();
        list.sort();
        let mut best: Option<(usize, Row)> = None;
        for _ in 0..CANDIDATES {
            let start = list[below(&mut random, list.len())];
            let row = filled(factors, start, &list, &mut random);
            let gain = list.iter().filter(|tuple| occurs(tuple, &row)).count();
            if best.as_ref().is_none_or(|(most, _)| gain > *most) {
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
fn filled(
    factors: &Factors,
    start: &[(usize, usize)],
    missing: &[&Tuple],
    random: &mut Pcg32,
) -> Row {
    let mut chosen = start.to_vec();
    // Only tuples that agree with what is chosen so far can still occur.
    let mut open: Vec<&Tuple> = missing.to_vec();
    let mut rest: Vec<usize> = (0..factors.choices.len())
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
        let count = factors.choices[factor].values();
        let mut gains = vec![0; count];
        for tuple in &open {
            if let Some((_, value)) = tuple.iter().find(|(own, _)| *own == factor) {
                gains[*value] += 1;
            }
        }
        let first = below(random, count);
        let value = (0..count)
            .map(|value| (first + value) % count)
            .filter(|value| factors.fits(&chosen, factor, *value))
            .max_by_key(|value| gains[*value])
            .unwrap();
        chosen.push((factor, value));
    }
    let mut row = vec![0; factors.choices.len()];
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
    fn new(factors: &Factors, row: &Row) -> Self {
        let mut name = SCENES[0];
        let mut settings = Settings::default();
        let mut threads = 1;
        let mut isa = Isa::default();
        let mut is_reversed = false;
        let mut is_divided = false;
        for (choice, &value) in factors.choices.iter().zip(row) {
            match choice {
                Choice::Scene => name = SCENES[value],
                Choice::Setting(_) => settings = settings.with(choice.settings(value)),
                Choice::Threads => threads = 1 + value,
                Choice::Isa => isa = Isa::available().nth(value).unwrap(),
                Choice::GroupOrder => is_reversed = value == 1,
                Choice::Bindings => is_divided = value == 1,
            }
        }
        let settings = Settings {
            // Few, because every vertex of all of them is compared; the zoo has one or two of each of its ten models.
            instances: Some(if name == "zoo" { 12 } else { 9 }),
            vertices: (name != "zoo").then_some(500),
            models: (name == "city").then_some(3),
            passes: Some(1),
            ..settings
        };
        let mut file = small_scene_file(name);
        if is_reversed {
            file.text = with_groups_reversed(&file.text);
        }
        Self {
            scene: file.read().unwrap(),
            settings,
            isa,
            threads,
            is_reversed,
            is_divided,
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
        for chosen in self.settings.chosen() {
            let argument = argument(chosen.setting.name);
            command += &format!(" {argument} {}", chosen.words.join(","));
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
    let factors = Factors::new();
    let rows = covering(&factors, strength);
    let machines = machines();
    let mut failures = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        if index % 2 == half {
            let combination = Combination::new(&factors, row);
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
    let factors = Factors::new();
    let rows = covering(&factors, 2);
    println!("{} rows", rows.len());
    assert!(rows.len() <= 70, "{} rows", rows.len());
    for tuple in tuples(&factors, 2) {
        assert!(rows.iter().any(|row| occurs(&tuple, row)), "{tuple:?}");
    }
    for row in &rows {
        let all: Tuple = row.iter().copied().enumerate().collect();
        for (factor, value) in &all {
            assert!(factors.fits(&all, *factor, *value), "{row:?}");
        }
    }
    assert_eq!(rows, covering(&factors, 2), "the seed decides");
}
