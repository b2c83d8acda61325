//! Complete WGSL from the files in shaders/, each of which names what it imports.
//!
//! WGSL has no imports. A file states them in the comment at its beginning, one per line:
//!
//! ```text
//! // import load_vertex from mesh
//! // import skin from skinning.wgsl
//! ```
//!
//! The word after `from` names a file in shaders/ or a *role*: a part that several files can play, such as the form of
//! the mesh. Rust names the root file of a shader and binds its roles to files. Each imported file is put once before those
//! that import from it. Nothing is renamed, so names are unique within a shader. In a complete shader a line
//! `//# shaders/FILE` precedes each file, by which errors name their file and line. A kernel from outside this crate brings
//! a file of its own, which imports in the same way.
//!
//! | role | names | played by |
//! | --- | --- | --- |
//! | `numbers` | `chunk` | `numbers_uniform.wgsl`, `numbers_table.wgsl` |
//! | `batch` | `posed`, `places`, `thread_of_chunk` | `batch_uniform.wgsl`, `batch_table.wgsl` |
//! | `drawn` | `crowd_instance`, `skinned_place`, `cube_of` | `drawn_chunk.wgsl`, `drawn_merged.wgsl` |
//! | `mesh` | `load_vertex`, `MESH_ENTRIES` | `mesh_plain.wgsl`, `mesh_packed.wgsl` |
//! | `blend` | `blended` | `blend_linear.wgsl`, `palette_dual_quaternions.wgsl` |
//! | `palette` | `entry_of` | `palette_rows.wgsl`, `palette_half.wgsl`, `palette_columns.wgsl`, `palette_uniform.wgsl`, `palette_texture.wgsl`, `palette_workgroup.wgsl`, `palette_baked.wgsl` |
//! | `frames` | `baked_entry` | `palette_baked_matrices.wgsl`, `palette_baked_motions.wgsl` |
//! | `morph` | `morphed` | `morph_none.wgsl`, `morph_sparse.wgsl`, `morph_lists.wgsl` |
//! | `deltas` | `delta_of` | `morph_dense.wgsl`, `morph_texture.wgsl` |
//! | `output` | `store` | `store.wgsl`, `output_streams.wgsl` |
//! | `elements` | `Element`, `ELEMENTS`, `MOST_ELEMENTS`, `elements_of` | `elements_floats.wgsl`, `elements_pairs.wgsl`, `elements_packed_positions.wgsl`, `elements_packed_normals.wgsl`, `elements_packed_tangents.wgsl` |
//! | `source` | `skinned_vertex` | `gpu_vertex.wgsl`, `gpu_vat.wgsl`, `preskinned.wgsl`, `preskinned_packed.wgsl`, `preskinned_streams.wgsl` |
//! | `previous` | `previous_position` | `previous.wgsl`, `previous_packed.wgsl` |
//!
//! Numbers of groups and bindings stand in the files alone: Rust binds buffers to variables by name. Tests assemble and
//! validate every shader, and check that each file imports what it uses and uses what it imports.
//!
//! WESL, the extension of WGSL by imports, is not used: it has no roles, its crate renames and reprints what it links,
//! and compiling that crate takes 195 s of processor time in a release build.

/// A role, and the file that plays it.
pub type Role = (&'static str, &'static str);

/// Line before each file in a complete shader; the file's path follows.
const MARK: &str = "//# shaders/";

macro_rules! files {
    ($($name:literal)*) => {
        &[$((concat!($name, ".wgsl"), include_str!(concat!("../", $name, ".wgsl")))),*]
    };
}

/// Name and text of every file in shaders/.
pub const FILES: &[(&str, &str)] = files![
    "arithmetic" "baked" "batch_table" "batch_uniform" "blend_linear" "bounds" "capture" "chunk" "chunk_numbers" "copy" "cull" "cull_count"
    "cull_gather" "cull_scan" "draw" "draw_motion" "draw_picture" "draw_view" "drawn_chunk" "drawn_merged"
    "elements_floats" "elements_packed_normals" "elements_packed_positions" "elements_packed_tangents" "elements_pairs" "fill" "gpu_compute_instances" "gpu_compute_listed" "gpu_compute_merged" "gpu_compute_naive" "gpu_compute_per_character"
    "gpu_compute_shared" "gpu_compute_staged" "gpu_vat" "gpu_vertex" "lines" "mesh_packed" "mesh_plain"
    "morph_by_vertex" "morph_dense" "morph_lists" "morph_none" "morph_sparse" "morph_texture"
    "numbers_table" "numbers_uniform" "octahedral" "output_streams" "packing"
    "palette_baked" "palette_baked_matrices" "palette_baked_motions" "palette_columns"
    "palette_dual_quaternions" "palette_half" "palette_rows" "palette_texture" "palette_uniform"
    "palette_workgroup" "pose" "pose_baked" "pose_chunk" "pose_blend" "pose_compact" "pose_curves"
    "pose_hierarchy" "pose_keys" "pose_levels" "pose_palette" "pose_paths" "pose_rows" "pose_sample"
    "pose_schedule" "pose_series" "pose_time" "preskinned" "preskinned_packed" "preskinned_streams" "previous"
    "previous_packed" "read" "rows" "skinning" "sockets" "store" "transform" "update" "vertex" "view" "workgroup"
];

/// An import of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShaderImport<'a> {
    /// Line in the file, counted from 1.
    pub line: usize,
    /// The imported names, separated by commas.
    pub names: &'a str,
    /// A file, or a role.
    pub from: &'a str,
}

/// The imports of a file, or the number of a line that begins like an import but is none.
pub fn imports(text: &str) -> impl Iterator<Item = Result<ShaderImport<'_>, usize>> {
    let header = (1..)
        .zip(text.lines())
        .take_while(|(_, line)| line.is_empty() || line.starts_with("//"));
    header.filter_map(|(line, comment)| {
        let import = comment.strip_prefix("// import ")?;
        Some(match import.split_once(" from ") {
            Some((names, from)) => Ok(ShaderImport { line, names, from }),
            None => Err(line),
        })
    })
}

/// The complete shader of a file in shaders/.
///
/// # Panics
/// A file imports from a file that does not exist or from a role that nothing plays, or no file imports from one of
/// the roles. Tests assemble every shader.
pub fn shader(root: &str, roles: &[Role]) -> String {
    assemble(FILES, root, roles).unwrap_or_else(|error| panic!("{error}"))
}

/// The complete shader of a file from outside this crate, by name and text. It imports from files in shaders/, and from
/// as many of the roles as it uses.
///
/// # Errors
/// As [`assemble`], except for roles that no file imports from.
pub fn shader_of_text(name: &str, text: &str, roles: &[Role]) -> Result<String, String> {
    let files = [&[(name, text)], FILES].concat();
    Ok(Assembly::of(&files, name, roles)?.wgsl)
}

/// The complete shader of a file among `files`: each file once, after those that it imports from.
///
/// # Errors
/// A file that does not exist, a role that nothing plays or that no file imports from, files that import from each
/// other in a ring, or a line that is no import; with the file and the line of the import.
pub fn assemble(files: &[(&str, &str)], root: &str, roles: &[Role]) -> Result<String, String> {
    let assembly = Assembly::of(files, root, roles)?;
    match roles.iter().find(|role| !assembly.done.contains(&role.1)) {
        Some((role, file)) => Err(format!(
            "{root}: no file imports from the role {role:?}, which {file} plays"
        )),
        None => Ok(assembly.wgsl),
    }
}

struct Assembly<'a> {
    files: &'a [(&'a str, &'a str)],
    roles: &'a [Role],
    done: Vec<&'a str>,
    /// The files whose imports are being added, from the root on.
    open: Vec<&'a str>,
    wgsl: String,
}

impl<'a> Assembly<'a> {
    fn of(files: &'a [(&'a str, &'a str)], root: &str, roles: &'a [Role]) -> Result<Self, String> {
        let mut assembly = Self {
            files,
            roles,
            done: Vec::new(),
            open: Vec::new(),
            wgsl: String::new(),
        };
        assembly.add(root, "")?;
        Ok(assembly)
    }

    /// Adds a file after its imports, unless it is there; `place` is that of the import.
    fn add(&mut self, name: &str, place: &str) -> Result<(), String> {
        let Some(&(name, text)) = self.files.iter().find(|(known, _)| *known == name) else {
            return Err(format!("{place}there is no file {name:?} in shaders/"));
        };
        if self.done.contains(&name) {
            return Ok(());
        }
        if let Some(first) = self.open.iter().position(|open| *open == name) {
            return Err(format!(
                "{place}a ring of imports: {} -> {name}",
                self.open[first..].join(" -> ")
            ));
        }
        self.open.push(name);
        for import in imports(text) {
            let ShaderImport { line, from, .. } = import.map_err(|line| {
                format!(
                    "shaders/{name}:{line}: expected \"// import NAME, NAME from FILE.wgsl\" or \"... from ROLE\""
                )
            })?;
            let place = format!("shaders/{name}:{line}: ");
            let file = match self.roles.iter().find(|role| role.0 == from) {
                Some((_, file)) => file,
                None if from.ends_with(".wgsl") => from,
                None => return Err(format!("{place}nothing plays the role {from:?}")),
            };
            self.add(file, &place)?;
        }
        self.open.pop();
        self.done.push(name);
        self.wgsl.extend([MARK, name, "\n", text]);
        Ok(())
    }
}

/// File in shaders/ and line there of a line of a complete shader; lines are counted from 1.
pub fn origin(wgsl: &str, line: usize) -> Option<(&str, usize)> {
    let before = (1..=line).zip(wgsl.lines());
    let (mark, name) = before
        .filter_map(|(at, text)| Some((at, text.strip_prefix(MARK)?)))
        .last()?;
    Some((name, line - mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &[(&str, &str)] = &[
        (
            "kernel.wgsl",
            "// A kernel.\n//\n// import a, b from one.wgsl\n// import c from role\n\nfn main() {}\n",
        ),
        (
            "one.wgsl",
            "// import d from two.wgsl\n\nfn a() {}\n// import nothing, in the middle of a file\n",
        ),
        ("two.wgsl", "fn d() {}\n"),
        ("actor.wgsl", "// import d from two.wgsl\n\nfn c() {}\n"),
        ("understudy.wgsl", "fn c() {}\n"),
        ("ring.wgsl", "// import b from back.wgsl\n"),
        ("back.wgsl", "//\n// import a from ring.wgsl\n"),
        ("lost.wgsl", "\n// import a from elsewhere.wgsl\n"),
        ("wrong.wgsl", "// import a\n"),
    ];

    fn files(wgsl: &str) -> Vec<&str> {
        wgsl.lines()
            .filter_map(|line| line.strip_prefix(MARK))
            .collect()
    }

    #[test]
    fn each_file_is_there_once_after_its_imports() {
        let wgsl = |file| assemble(SAMPLE, "kernel.wgsl", &[("role", file)]).unwrap();
        assert_eq!(
            files(&wgsl("actor.wgsl")),
            ["two.wgsl", "one.wgsl", "actor.wgsl", "kernel.wgsl"]
        );
        assert_eq!(
            files(&wgsl("understudy.wgsl")),
            ["two.wgsl", "one.wgsl", "understudy.wgsl", "kernel.wgsl"]
        );
    }

    #[test]
    fn a_file_from_outside_uses_as_many_roles_as_it_imports_from() {
        let text = "// import chunk from numbers\n\nfn a() {}\n";
        let roles = [
            ("numbers", "numbers_uniform.wgsl"),
            ("mesh", "mesh_plain.wgsl"),
        ];
        let wgsl = shader_of_text("own.wgsl", text, &roles).unwrap();
        assert_eq!(
            files(&wgsl),
            ["chunk_numbers.wgsl", "numbers_uniform.wgsl", "own.wgsl"]
        );
        let fault = shader_of_text("own.wgsl", "// import a from role\n", &[]).unwrap_err();
        assert_eq!(fault, "shaders/own.wgsl:1: nothing plays the role \"role\"");
    }

    #[test]
    fn a_line_is_traced_to_its_file() {
        let wgsl = assemble(SAMPLE, "kernel.wgsl", &[("role", "actor.wgsl")]).unwrap();
        for (line, text) in (1..)
            .zip(wgsl.lines())
            .filter(|(_, text)| !text.starts_with(MARK))
        {
            let (name, place) = origin(&wgsl, line).unwrap();
            let (_, file) = SAMPLE.iter().find(|(known, _)| *known == name).unwrap();
            assert_eq!(file.lines().nth(place - 1), Some(text));
        }
    }

    #[test]
    fn faults_name_file_and_line() {
        let fault = |root, roles: &[Role]| assemble(SAMPLE, root, roles).unwrap_err();
        let role: Role = ("role", "actor.wgsl");
        assert_eq!(
            fault("kernel.wgsl", &[]),
            "shaders/kernel.wgsl:4: nothing plays the role \"role\""
        );
        let unused =
            "kernel.wgsl: no file imports from the role \"other\", which understudy.wgsl plays";
        assert_eq!(
            fault("kernel.wgsl", &[role, ("other", "understudy.wgsl")]),
            unused
        );
        let missing = "shaders/kernel.wgsl:4: there is no file \"gone.wgsl\" in shaders/";
        assert_eq!(fault("kernel.wgsl", &[("role", "gone.wgsl")]), missing);
        let ring = "shaders/back.wgsl:2: a ring of imports: ring.wgsl -> back.wgsl -> ring.wgsl";
        assert_eq!(fault("ring.wgsl", &[]), ring);
        assert_eq!(
            fault("lost.wgsl", &[]),
            "shaders/lost.wgsl:2: there is no file \"elsewhere.wgsl\" in shaders/"
        );
        assert!(fault("wrong.wgsl", &[]).starts_with("shaders/wrong.wgsl:1: expected"));
        assert_eq!(
            fault("none.wgsl", &[]),
            "there is no file \"none.wgsl\" in shaders/"
        );
    }
}
