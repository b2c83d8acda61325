//! Tables of a page, between markers: `<!-- NAME FILE -->`, where the file is named from the page's folder, to
//! `<!-- /NAME -->`.

use crate::Result;
use crate::table::{Row, number, parse};
use std::path::Path;

/// A family of hardware that the driver compiles for.
pub struct Family {
    /// The driver's name.
    pub name: &'static str,
    pub title: &'static str,
    /// Most waves of a SIMD, as the driver counts them.
    pub waves: u32,
}

/// Three generations.
pub const FAMILIES: [Family; 3] = [
    Family {
        name: "navi21",
        title: "RDNA 2 (Navi 21)",
        waves: 32,
    },
    Family {
        name: "navi10",
        title: "RDNA 1 (Navi 10)",
        waves: 40,
    },
    Family {
        name: "vega10",
        title: "GCN 5 (Vega 10)",
        waves: 10,
    },
];

/// The page with what stands between its markers written anew by `text_of`.
pub fn spliced(
    page: &Path,
    name: &str,
    text_of: impl Fn(&[Row]) -> Result<String>,
) -> Result<String> {
    let fault = |problem: &str| format!("{}: {problem}", page.display());
    let text =
        std::fs::read_to_string(page).map_err(|error| fault(&format!("cannot read: {error}")))?;
    let begin = format!("<!-- {name} ");
    let end = format!("<!-- /{name} -->");
    let start = text
        .find(&begin)
        .ok_or_else(|| fault(&format!("no marker {begin}FILE -->")))?;
    let (source, _) = text[start + begin.len()..]
        .split_once(" -->")
        .ok_or_else(|| fault("a marker without its end"))?;
    let stop = text
        .find(&end)
        .ok_or_else(|| fault(&format!("no marker {end}")))?;
    let file = page.parent().unwrap_or(Path::new("")).join(source);
    let csv = std::fs::read_to_string(&file)
        .map_err(|e| format!("{}: cannot read: {e}", file.display()))?;
    let rows = parse(&csv).map_err(|error| format!("{}: {error}", file.display()))?;
    let from = file
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .replace("mesa-", "Mesa ");
    Ok(format!(
        "{}{begin}{source} -->\n{from}, from `{}`.\n\n{}{}",
        &text[..start],
        source.trim_start_matches("../"),
        text_of(&rows)?,
        &text[stop..]
    ))
}

/// A table; the first columns hold words, the others numbers.
struct Table {
    text: String,
}

impl Table {
    fn new(words: &[&str], numbers: &[&str]) -> Self {
        let header: Vec<_> = words.iter().chain(numbers).copied().collect();
        let rule: Vec<_> = words
            .iter()
            .map(|_| "---")
            .chain(numbers.iter().map(|_| "---:"))
            .collect();
        Self {
            text: format!("| {} |\n| {} |\n", header.join(" | "), rule.join(" | ")),
        }
    }

    fn row(&mut self, cells: &[String]) {
        self.text += &format!("| {} |\n", cells.join(" | "));
    }
}

fn cell(row: &Row, value: &str) -> String {
    row.value(value)
        .map_or("-".into(), |value| number((value * 10.0).round() / 10.0))
}

fn is(row: &Row, keys: &[(&str, &str)]) -> bool {
    keys.iter().all(|(key, value)| row.key(key) == *value)
}

fn code(row: &Row) -> String {
    match row.key("variant") {
        "" => format!("`{}`", row.key("pipeline")),
        variant => format!("`{}`, {variant}", row.key("pipeline")),
    }
}

/// The tables of results/gpu-isa/README.md.
pub fn isa(rows: &[Row]) -> Result<String> {
    let mut text = String::from(
        "### Kernels that skin\nPosition and normal as `f32`, at most four influences.\n\n",
    );
    let usual = [
        ("stage", "compute"),
        ("vertices", "pn f32"),
        ("influences", "1-4"),
    ];
    for Family { name, title, waves } in FAMILIES {
        let waves = format!("waves of {waves}");
        let mut table = Table::new(
            &[title],
            &[
                "VGPRs",
                &waves,
                "spilled",
                "instructions",
                "code bytes",
                "workgroup bytes",
                "latency",
                "inverse throughput",
            ],
        );
        for row in rows
            .iter()
            .filter(|row| row.key("family") == name && is(row, &usual))
        {
            let spilled = row.value("spilled_vgprs").unwrap_or(0.0)
                + row.value("spilled_sgprs").unwrap_or(0.0);
            let mut cells = vec![
                code(row),
                cell(row, "vgprs"),
                cell(row, "waves"),
                number(spilled),
            ];
            let others = [
                "instructions",
                "code_bytes",
                "workgroup_bytes",
                "latency",
                "inverse_throughput",
            ];
            cells.extend(others.map(|value| cell(row, value)));
            table.row(&cells);
        }
        text += &format!("{}\n", table.text);
    }
    text += "### For each vertex and instance\nRDNA 2, position and normal as `f32`, four influences.\n\n";
    text += &per_pair(rows);
    text += "\n### Forms of a vertex\nRDNA 2: VGPRs, waves and instructions.\n\n";
    text += &forms(rows);
    text += "\n### Kernels that pose and cull, and shaders that draw\nVGPRs, waves and instructions.\n\n";
    text += &others(rows);
    Ok(text)
}

fn per_pair(rows: &[Row]) -> String {
    let columns = [
        "instructions",
        "on the vector unit",
        "instructions for each influence after the first",
        "loads",
        "bytes loaded",
        "stores",
        "bytes stored",
        "accesses to workgroup memory",
    ];
    let values = [
        "pair_instructions",
        "pair_vector",
        "influence_instructions",
        "pair_loads",
        "pair_loaded_bytes",
        "pair_stores",
        "pair_stored_bytes",
        "pair_workgroup_accesses",
    ];
    let mut table = Table::new(&["pipeline", "mesh"], &columns);
    let wanted = [
        ("family", "navi21"),
        ("vertices", "pn f32"),
        ("influences", "1-4"),
    ];
    for row in rows {
        if is(row, &wanted) && row.value("pair_instructions").is_some() {
            let mut cells = vec![code(row), row.key("mesh").to_owned()];
            cells.extend(values.map(|value| cell(row, value)));
            table.row(&cells);
        }
    }
    table.text
}

fn brief(row: &Row) -> String {
    ["vgprs", "waves", "instructions"]
        .map(|value| cell(row, value))
        .join(", ")
}

fn forms(rows: &[Row]) -> String {
    let forms = [
        "p f32",
        "pn f32",
        "pnt f32",
        "p packed",
        "pn packed",
        "pnt packed",
    ];
    let mut table = Table::new(&["pipeline", "influences"], &forms);
    let mut skinning = Vec::new();
    for row in rows {
        if is(row, &[("family", "navi21"), ("stage", "compute")]) && !row.key("mesh").is_empty() {
            skinning.push(row);
        }
    }
    let mut done: Vec<[&str; 2]> = Vec::new();
    for row in &skinning {
        let [pipeline, influences] = [row.key("pipeline"), row.key("influences")];
        if done.contains(&[pipeline, influences]) {
            continue;
        }
        done.push([pipeline, influences]);
        let mut cells = vec![code(row), influences.to_owned()];
        for vertices in forms {
            let same = [
                ("pipeline", pipeline),
                ("influences", influences),
                ("vertices", vertices),
            ];
            let form = skinning.iter().find(|row| is(row, &same));
            cells.push(form.map_or("-".into(), |row| brief(row)));
        }
        table.row(&cells);
    }
    table.text
}

fn others(rows: &[Row]) -> String {
    let mut table = Table::new(&["pipeline", "stage"], &FAMILIES.map(|family| family.title));
    for row in rows {
        let is_other = ["", "pn f32"].contains(&row.key("vertices"))
            && ["", "1-4"].contains(&row.key("influences"))
            && !is(row, &[("stage", "compute"), ("vertices", "pn f32")]);
        // A pass that leaves depths has a fragment shader of two instructions.
        let is_empty = is(row, &[("variant", "depth"), ("stage", "fragment")]);
        if row.key("family") != FAMILIES[0].name || !is_other || is_empty {
            continue;
        }
        let mut cells = vec![code(row), row.key("stage").to_owned()];
        for family in &FAMILIES {
            let same = rows.iter().find(|other| {
                other.key("family") == family.name && other.keys[1..] == row.keys[1..]
            });
            cells.push(same.map_or("-".into(), brief));
        }
        table.row(&cells);
    }
    table.text
}
