//! Least times of three GPUs for `crowd-10k-dense`, on paper: bytes divided by the vendor's bandwidth, and, on hardware
//! that the driver compiles for, vector instructions divided by the rate at which they are issued.

use crate::Result;
use crate::table::{Row, number};
use skinbench::bake::BakeFormat;
use skinbench::crowd::Crowd;
use skinbench::gpu::{MeshForm, PaletteForm, mesh_bytes};
use skinbench::scene::{Output, Scene, Settings};
use skinbench::vertex::Encoding;

const SCENE: &str = "crowd-10k-dense";
/// Bytes of memory that the scene may take here.
const MEMORY: u64 = 8 << 30;

/// A GPU by its vendor's sheet.
struct Gpu {
    name: &'static str,
    /// Bytes per second.
    bandwidth: f64,
    /// Operations of the vector units per second, one for each thread, and the family that the driver compiles for.
    vector: Option<(f64, &'static str)>,
}

/// docs/gpu.md links the sheets. Compute units have 64 lanes.
const GPUS: [Gpu; 3] = [
    Gpu {
        name: "H200",
        bandwidth: 4.8e12,
        vector: None,
    },
    Gpu {
        name: "RX 6800 XT",
        bandwidth: 512e9,
        vector: Some((72.0 * 64.0 * 2.25e9, "navi21")),
    },
    Gpu {
        name: "Steam Deck",
        bandwidth: 88e9,
        vector: Some((8.0 * 64.0 * 1.6e9, "navi21")),
    },
];

/// A strategy: its pipeline's name, forms, and whether it writes vertices.
struct Strategy(&'static str, MeshForm, PaletteForm, Option<Encoding>);

const STRATEGIES: [Strategy; 14] = [
    Strategy(
        "gpu-compute:instances",
        MeshForm::Packed,
        PaletteForm::Rows,
        Some(Encoding::F32),
    ),
    Strategy(
        "gpu-compute:instances",
        MeshForm::Packed,
        PaletteForm::Rows,
        Some(Encoding::Packed),
    ),
    Strategy(
        "gpu-compute:f16",
        MeshForm::Packed,
        PaletteForm::Half,
        Some(Encoding::F32),
    ),
    Strategy(
        "gpu-compute:staged",
        MeshForm::Packed,
        PaletteForm::Rows,
        Some(Encoding::F32),
    ),
    Strategy(
        "gpu-compute:shared",
        MeshForm::Packed,
        PaletteForm::Rows,
        Some(Encoding::F32),
    ),
    Strategy(
        "gpu-compute:naive",
        MeshForm::Plain,
        PaletteForm::Rows,
        Some(Encoding::F32),
    ),
    Strategy(
        "gpu-compute:per-character",
        MeshForm::Plain,
        PaletteForm::Columns,
        Some(Encoding::F32),
    ),
    Strategy(
        "gpu-compute:dual-quaternion",
        MeshForm::Packed,
        PaletteForm::DualQuaternions,
        Some(Encoding::F32),
    ),
    Strategy(
        "gpu-baked:compute, instances",
        MeshForm::Packed,
        PaletteForm::Baked(BakeFormat::Motions),
        Some(Encoding::F32),
    ),
    Strategy("gpu-vertex", MeshForm::Packed, PaletteForm::Rows, None),
    Strategy(
        "gpu-vertex:mat4",
        MeshForm::Plain,
        PaletteForm::Columns,
        None,
    ),
    Strategy(
        "gpu-vertex:uniform",
        MeshForm::Plain,
        PaletteForm::Uniform,
        None,
    ),
    Strategy(
        "gpu-vertex:texture",
        MeshForm::Plain,
        PaletteForm::Texture,
        None,
    ),
    Strategy(
        "gpu-baked",
        MeshForm::Packed,
        PaletteForm::Baked(BakeFormat::Motions),
        None,
    ),
];

fn crowd(encoding: Encoding) -> Result<Crowd> {
    let output = if encoding == Encoding::Packed {
        Output::Packed
    } else {
        Output::F32
    };
    let settings = Settings {
        output: Some(output),
        ..Settings::default()
    };
    Ok(Scene::load(SCENE)?.with(settings).build(MEMORY)?.crowd)
}

/// Influences of a vertex that weigh anything, on average over the crowd.
fn mean_influences(crowd: &Crowd) -> f64 {
    let mut all = 0;
    let mut vertices = 0;
    for group in crowd.groups() {
        let mesh = group.model.mesh();
        let mut weighing = 0;
        for vertex in 0..mesh.vertex_count() {
            for (_, weight) in mesh.influences_of(vertex) {
                weighing += usize::from(weight > 0.0);
            }
        }
        all += group.len() * weighing;
        vertices += group.len() * mesh.vertex_count();
    }
    all as f64 / vertices as f64
}

/// Bytes of an entry that a shader reads; baked frames are shared by the crowd and stay in a cache.
fn entry_bytes(palette: PaletteForm) -> u64 {
    match palette {
        PaletteForm::Rows | PaletteForm::Workgroup => 48,
        PaletteForm::Texture | PaletteForm::DualQuaternions => 48,
        PaletteForm::Half => 32,
        PaletteForm::Columns | PaletteForm::Uniform => 64,
        PaletteForm::Baked(_) => 0,
    }
}

/// The table of docs/gpu.md.
pub fn roofline(rows: &[Row]) -> Result<String> {
    let crowds = [crowd(Encoding::F32)?, crowd(Encoding::Packed)?];
    let vertices: u64 = crowds[0]
        .groups()
        .iter()
        .map(|g| g.len() as u64 * g.model.mesh().vertex_count() as u64)
        .sum();
    let instances = crowds[0].instance_count();
    let influences = mean_influences(&crowds[0]);
    let mut text = format!(
        "{instances} instances of {SCENE}, {vertices} vertices with {} influences on average, position and normal. **Computed, not measured.**\n\n\
         | backend | output |",
        number(influences)
    );
    for gpu in &GPUS {
        text += &format!(" {}: bytes, µs |", gpu.name);
        if gpu.vector.is_some() {
            text += &format!(" {}: instructions, µs |", gpu.name);
        }
    }
    let columns = GPUS.len() + GPUS.iter().filter(|gpu| gpu.vector.is_some()).count();
    text += &format!("\n| --- | --- |{}\n", " ---: |".repeat(columns));
    for Strategy(name, mesh, palette, output) in &STRATEGIES {
        let crowd = &crowds[usize::from(*output == Some(Encoding::Packed))];
        let meshes = mesh_bytes(crowd, *mesh);
        let read = meshes + crowd.palette_entries() * entry_bytes(*palette);
        let written = if output.is_some() {
            4 * crowd.output_words()
        } else {
            0
        };
        let encoding = output.map_or("-", Encoding::name);
        text += &format!("| `{name}` | {encoding} |");
        for gpu in &GPUS {
            let microseconds = |seconds: f64| format!(" {:.0} |", seconds * 1e6);
            text += &microseconds((read + written) as f64 / gpu.bandwidth);
            let Some((rate, family)) = gpu.vector else {
                continue;
            };
            let form = format!("pn {}", output.unwrap_or_default().name());
            let own = rows.iter().find(|row| {
                let keys = ["family", "pipeline", "vertices", "influences"].map(|key| row.key(key));
                keys == [family, *name, &form, "1-4"] && row.value("pair_vector").is_some()
            });
            let vector = own.and_then(|row| {
                // The row is for four influences.
                let fewer = 4.0 - influences;
                Some(row.value("pair_vector")? - fewer * row.value("influence_vector")?)
            });
            let vector = vector.ok_or_else(|| format!("no row of {name} for {family}"))?;
            text += &microseconds(vertices as f64 * vector / rate);
        }
        text += "\n";
    }
    Ok(text)
}
