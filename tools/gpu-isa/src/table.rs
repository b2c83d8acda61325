//! One row for each shader of each pipeline and family, as CSV, and what got worse from one table to another.

use crate::Result;
use crate::assembly::{Counts, Listing, Work};
use crate::programs::Program;
use crate::radv::{Executable, Pipeline, Radv};
use crate::spirv::Shader;
use ash::vk::ShaderStageFlags;
use skinbench::gpu::MeshForm;
use skinbench::gpu::passes::skin::ThreadLayout;
use std::collections::BTreeMap;

/// Columns that identify a row.
pub const KEYS: [&str; 7] = [
    "family",
    "pipeline",
    "variant",
    "stage",
    "mesh",
    "vertices",
    "influences",
];
/// Columns of values: first those that the driver reports, then those counted in the disassembly.
pub const VALUES: [&str; 25] = [
    "wave",
    "vgprs",
    "sgprs",
    "waves",
    "spilled_vgprs",
    "spilled_sgprs",
    "scratch_bytes",
    "workgroup_bytes",
    "instructions",
    "code_bytes",
    "latency",
    "inverse_throughput",
    "loads",
    "stores",
    "scalar_loads",
    "workgroup_accesses",
    "pair_instructions",
    "pair_vector",
    "pair_loads",
    "pair_loaded_bytes",
    "pair_stores",
    "pair_stored_bytes",
    "pair_workgroup_accesses",
    "influence_instructions",
    "influence_vector",
];
/// Values that must not rise, and the one that must not fall.
const COSTS: [&str; 5] = [
    "vgprs",
    "spilled_vgprs",
    "spilled_sgprs",
    "scratch_bytes",
    "instructions",
];
const OCCUPANCY: &str = "waves";

/// Palette entries of the walker, which the kernel `shared` copies.
const WALKER_ENTRIES: u32 = 67;

/// A row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// In the order of [`KEYS`].
    pub keys: [String; KEYS.len()],
    /// In the order of [`VALUES`]; per pair, none for shaders that do not skin.
    values: Vec<Option<f64>>,
}

impl Row {
    /// A key by name.
    pub fn key(&self, name: &str) -> &str {
        KEYS.iter()
            .position(|key| *key == name)
            .map_or("", |place| &self.keys[place])
    }

    /// A value by name.
    pub fn value(&self, name: &str) -> Option<f64> {
        VALUES
            .iter()
            .position(|value| *value == name)
            .and_then(|place| self.values[place])
    }

    /// The keys, for messages.
    pub fn name(&self) -> String {
        self.keys
            .iter()
            .filter(|key| !key.is_empty())
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The cells of a line of a CSV file.
    fn cells(&self) -> Vec<String> {
        let mut cells = self.keys.to_vec();
        for value in &self.values {
            cells.push(value.map(number).unwrap_or_default());
        }
        cells
    }

    fn from_cells(cells: Vec<String>) -> Result<Self> {
        let columns = KEYS.len() + VALUES.len();
        if cells.len() != columns {
            return Err(format!("{} cells; expected {columns}", cells.len()).into());
        }
        let (keys, numbers) = cells.split_at(KEYS.len());
        let mut values = Vec::new();
        for (column, text) in VALUES.iter().zip(numbers) {
            let value = match text.as_str() {
                "" => None,
                text => Some(
                    text.parse()
                        .map_err(|_| format!("{column}={text:?}; expected a number"))?,
                ),
            };
            values.push(value);
        }
        let keys = std::array::from_fn(|key| keys[key].clone());
        Ok(Self { keys, values })
    }
}

/// A number with at most two digits behind the point.
pub fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The columns of a file.
fn columns() -> Vec<&'static str> {
    [&KEYS[..], &VALUES].concat()
}

/// A whole file.
///
/// # Errors
/// None: text is written to memory.
pub fn csv(rows: &[Row]) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns())?;
    for row in rows {
        writer.write_record(row.cells())?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// Reads a file that [`csv`] wrote.
pub fn parse(text: &str) -> Result<Vec<Row>> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(text.as_bytes());
    let headers = reader.headers()?;
    if headers != columns() {
        return Err(format!("columns {headers:?}; expected {:?}", columns()).into());
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record?;
        let line = record.position().map_or(0, csv::Position::line);
        let cells = record.iter().map(String::from).collect();
        rows.push(Row::from_cells(cells).map_err(|error| format!("line {line}: {error}"))?);
    }
    Ok(rows)
}

/// Compiles a program for a family.
pub fn compiled(radv: &Radv, family: &str, program: &Program) -> Result<Vec<Row>> {
    let shader = Shader::new(&program.wgsl)?;
    let pipeline = Pipeline {
        shader: &shader,
        constants: &program.constants,
        dynamic: program.dynamic,
        stages: program.stages,
    };
    let mut rows = Vec::new();
    for executable in radv.compile(&pipeline)? {
        let stage = match executable.stage {
            ShaderStageFlags::VERTEX => "vertex",
            ShaderStageFlags::FRAGMENT => "fragment",
            _ => "compute",
        };
        let mut mesh = "";
        let mut vertices = String::new();
        let mut influences = "";
        if let Some(kind) = program.kind {
            let format = kind.format;
            vertices = format!("{} {}", format.attributes.name(), format.encoding.name());
            if program.name != "draw" {
                mesh = match kind.mesh {
                    MeshForm::Plain => "plain",
                    MeshForm::Packed => "packed",
                    MeshForm::Nothing => "none",
                    MeshForm::Own(mesh) => mesh.name,
                };
                influences = if kind.influences > 4 { "5-16" } else { "1-4" };
            }
        }
        let keys = [
            family,
            &program.name,
            program.variant,
            stage,
            mesh,
            &vertices,
            influences,
        ];
        let listing = Listing::parse(&executable.assembly);
        let work = if stage == "fragment" {
            None
        } else {
            work(program, shader.workgroup())
        };
        let pair = work.and_then(|work| listing.per_pair(work));
        let row = Row {
            keys: keys.map(str::to_owned),
            values: values(&executable, listing.total(), pair)?,
        };
        if work.is_some() && pair.is_none() {
            return Err(format!("{}: its loops are not those of skinning", row.name()).into());
        }
        rows.push(row);
    }
    Ok(rows)
}

/// The work of a thread of a program, if it skins; `workgroup` is the number of threads in a workgroup.
fn work(program: &Program, workgroup: u32) -> Option<Work> {
    let influences = program.kind?.influences;
    let mut work = Work {
        pairs: 1,
        setup_turns: 1,
        influences,
    };
    match program.threads? {
        ThreadLayout::Vertex(instances)
        | ThreadLayout::Staged(instances)
        | ThreadLayout::Merged(instances) => {
            work.pairs = instances;
            work.setup_turns = influences.saturating_sub(4);
        }
        ThreadLayout::Instance(vertices) => {
            work.pairs = vertices / workgroup;
            work.setup_turns = (3 * WALKER_ENTRIES).div_ceil(workgroup);
        }
        ThreadLayout::Pair | ThreadLayout::Character => {}
    }
    Some(work)
}

fn values(
    executable: &Executable,
    total: Counts,
    pair: Option<[Counts; 2]>,
) -> Result<Vec<Option<f64>>> {
    let mut values = vec![Some(f64::from(executable.wave))];
    for name in [
        "VGPRs",
        "SGPRs",
        "Subgroups per SIMD",
        "Spilled VGPRs",
        "Spilled SGPRs",
        "Scratch size",
        "LDS size",
        "Instructions",
        "Code size",
        "Latency",
        "Inverse Throughput",
    ] {
        let value = executable.statistics.get(name);
        let value = value.ok_or_else(|| format!("the driver says nothing of {name:?}"))?;
        values.push(Some(*value as f64));
    }
    for count in [
        total.loads,
        total.stores,
        total.scalar_loads,
        total.workgroup,
    ] {
        values.push(Some(count));
    }
    let Some([pair, influence]) = pair else {
        values.resize(VALUES.len(), None);
        return Ok(values);
    };
    for count in [
        pair.instructions,
        pair.vector,
        pair.loads,
        pair.loaded_bytes,
        pair.stores,
        pair.stored_bytes,
        pair.workgroup,
        influence.instructions,
        influence.vector,
    ] {
        values.push(Some(count));
    }
    Ok(values)
}

/// Difference between a table and an earlier one.
#[derive(Debug, Default, PartialEq)]
pub struct Difference {
    /// Registers, spills or instructions rose, or occupancy fell.
    pub worse: Vec<String>,
    /// The other way round.
    pub better: Vec<String>,
    /// Rows that only one of them has.
    pub other: Vec<String>,
}

/// Compares two tables row by row.
pub fn compare(before: &[Row], after: &[Row]) -> Difference {
    let mut difference = Difference::default();
    let mut known: BTreeMap<_, _> = before.iter().map(|row| (&row.keys, row)).collect();
    for row in after {
        let Some(old) = known.remove(&row.keys) else {
            difference
                .other
                .push(format!("{}: not in the file", row.name()));
            continue;
        };
        for name in COSTS.iter().chain(&[OCCUPANCY]) {
            let (Some(old), Some(new)) = (old.value(name), row.value(name)) else {
                continue;
            };
            let message = format!(
                "{}: {name} {} instead of {}",
                row.name(),
                number(new),
                number(old)
            );
            if new == old {
                continue;
            }
            let is_worse = (new > old) == (*name != OCCUPANCY);
            if is_worse {
                difference.worse.push(message);
            } else {
                difference.better.push(message);
            }
        }
    }
    difference.other.extend(
        known
            .values()
            .map(|row| format!("{}: only in the file", row.name())),
    );
    difference
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(pipeline: &str, vgprs: f64, waves: f64) -> Row {
        let mut values = vec![Some(1.0); VALUES.len()];
        (values[1], values[3], values[20]) = (Some(vgprs), Some(waves), None);
        Row {
            keys: ["navi21", pipeline, "", "compute", "packed", "pn f32", "1-4"].map(str::to_owned),
            values,
        }
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let rows = vec![sample("a, b", 40.25, 24.0), sample("c", 1.0, 2.0)];
        assert_eq!(parse(&csv(&rows).unwrap()).unwrap(), rows);
        assert!(
            parse("family\n")
                .unwrap_err()
                .to_string()
                .contains("expected")
        );
        let refused = |line: &str| {
            let text = csv(&[]).unwrap() + line;
            parse(&text).unwrap_err().to_string()
        };
        assert_eq!(refused("navi21,a\n"), "line 2: 2 cells; expected 32");
        let line = format!(
            "navi21,a,,compute,packed,p f32,1-4,64,many{}\n",
            ",1".repeat(23)
        );
        assert_eq!(refused(&line), "line 2: vgprs=\"many\"; expected a number");
        // What is in the repository is written again as it is.
        let kept = include_str!("../../../results/gpu-isa/mesa-22.3.6.csv");
        assert_eq!(csv(&parse(kept).unwrap()).unwrap(), kept);
    }

    #[test]
    fn what_got_worse_is_named() {
        let before = [sample("a", 40.0, 24.0), sample("b", 40.0, 24.0)];
        assert_eq!(compare(&before, &before), Difference::default());
        let found = compare(&before, &[sample("a", 44.0, 24.0), sample("b", 40.0, 20.0)]);
        assert_eq!(found.worse.len(), 2, "{found:?}");
        assert!(
            found.worse[0].contains("vgprs 44 instead of 40")
                && found.worse[1].contains("waves 20 instead of 24")
        );
        let found = compare(&before, &[sample("a", 36.0, 28.0), sample("c", 40.0, 24.0)]);
        assert_eq!(
            (found.worse.len(), found.better.len(), found.other.len()),
            (0, 2, 2),
            "{found:?}"
        );
    }
}
