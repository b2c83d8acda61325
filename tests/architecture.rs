//! Holds the source of the program and of each crate to the floor plan in its `lib.rs`: imports go down, and never
//! round.
//!
//! Each path that a file imports or names is followed through re-exports to the file that defines it. A re-export by
//! itself is a signpost, not an import: it counts where the file that makes it uses the name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

/// A module: a file, or a block within one.
#[derive(Default)]
struct Module {
    file: PathBuf,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    /// Imported or re-exported names and the paths that they stand for.
    imports: BTreeMap<String, Import>,
    /// Paths in code, as written.
    paths: BTreeSet<Vec<String>>,
}

struct Import {
    path: Vec<String>,
    public: bool,
}

/// All modules of a crate; the first is its root.
struct Crate(Vec<Module>);

impl Crate {
    fn read(root: &Path) -> Self {
        let mut read = Self(Vec::new());
        read.file(root, root.parent().unwrap(), None);
        read
    }

    /// Reads a file and those of its modules, which lie in `folder`.
    fn file(&mut self, file: &Path, folder: &Path, parent: Option<usize>) -> usize {
        let text = std::fs::read_to_string(file)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let items = syn::parse_file(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()))
            .items;
        self.module(&items, file, folder, parent)
    }

    fn module(
        &mut self,
        items: &[Item],
        file: &Path,
        folder: &Path,
        parent: Option<usize>,
    ) -> usize {
        let own = self.0.len();
        self.0.push(Module {
            file: file.into(),
            parent,
            ..Module::default()
        });
        for item in items {
            match item {
                Item::Mod(module) if is_test(&module.attrs) => {}
                Item::Mod(module) => {
                    let name = module.ident.to_string();
                    let below = folder.join(&name);
                    let child = match &module.content {
                        Some((_, items)) => self.module(items, file, &below, Some(own)),
                        None => {
                            let single = folder.join(format!("{name}.rs"));
                            let file = if single.exists() {
                                single
                            } else {
                                below.join("mod.rs")
                            };
                            self.file(&file, &below, Some(own))
                        }
                    };
                    self.0[own].children.insert(name, child);
                }
                Item::Use(item) => {
                    let public = !matches!(item.vis, syn::Visibility::Inherited);
                    self.0[own].import(&item.tree, Vec::new(), public);
                }
                item => Paths(&mut self.0[own].paths).visit_item(item),
            }
        }
        own
    }

    /// The file that defines what a path names in a module. Names of other crates count as defined where they are used.
    fn resolve(&self, module: usize, path: &[String], depth: usize) -> Option<PathBuf> {
        assert!(depth < 20, "{path:?} is imported in a circle");
        let own = &self.0[module];
        let Some((first, rest)) = path.split_first() else {
            return Some(own.file.clone());
        };
        if let Some(&child) = own.children.get(first) {
            return self.resolve(child, rest, depth);
        }
        match first.as_str() {
            "crate" => self.resolve(0, rest, depth),
            "self" => self.resolve(module, rest, depth),
            "super" => self.resolve(own.parent?, rest, depth),
            name => match own.imports.get(name) {
                // Names from elsewhere may be spelled like one of ours: `use csv::Writer` in a module `csv`.
                Some(import) if import.path[0] != name || own.children.contains_key(name) => {
                    self.resolve(module, &[&import.path[..], rest].concat(), depth + 1)
                }
                _ => Some(own.file.clone()),
            },
        }
    }

    /// Every import of one file from another one, and the path that it is written as.
    fn imports(&self) -> BTreeMap<(PathBuf, PathBuf), String> {
        let mut edges = BTreeMap::new();
        for (index, module) in self.0.iter().enumerate() {
            let named = |name: &str| module.paths.iter().any(|path| path[0] == name);
            let imports = module
                .imports
                .iter()
                .filter(|(name, import)| !import.public || named(name));
            let imported = imports.map(|(_, import)| &import.path);
            let starts = |path: &&Vec<String>| {
                matches!(path[0].as_str(), "crate" | "super" | "self")
                    || (path.len() > 1 && module.children.contains_key(&path[0]))
            };
            for path in imported.chain(module.paths.iter()).filter(starts) {
                if let Some(target) = self
                    .resolve(index, path, 0)
                    .filter(|target| *target != module.file)
                {
                    edges
                        .entry((module.file.clone(), target))
                        .or_insert_with(|| path.join("::"));
                }
            }
        }
        edges
    }
}

impl Module {
    fn import(&mut self, tree: &UseTree, mut path: Vec<String>, public: bool) {
        match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                self.import(&tree.tree, path, public);
            }
            UseTree::Group(group) => group
                .items
                .iter()
                .for_each(|tree| self.import(tree, path.clone(), public)),
            UseTree::Name(name) if name.ident == "self" => {
                let name = path.last().unwrap().clone();
                self.imports.insert(name, Import { path, public });
            }
            UseTree::Name(name) => {
                path.push(name.ident.to_string());
                self.imports
                    .insert(name.ident.to_string(), Import { path, public });
            }
            UseTree::Rename(rename) => {
                path.push(rename.ident.to_string());
                let name = if rename.rename == "_" {
                    path.join("::")
                } else {
                    rename.rename.to_string()
                };
                self.imports.insert(name, Import { path, public });
            }
            UseTree::Glob(_) => {
                self.imports
                    .insert(format!("{}::*", path.join("::")), Import { path, public });
            }
        }
    }
}

/// Collects the paths in code; tests may look anywhere.
struct Paths<'a>(&'a mut BTreeSet<Vec<String>>);

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0.insert(
            path.segments
                .iter()
                .map(|segment| segment.ident.to_string())
                .collect(),
        );
        visit::visit_path(self, path);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {
        // `pub(in crate::room)` imports nothing.
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut module = Module::default();
        module.import(&item.tree, Vec::new(), false);
        self.0
            .extend(module.imports.into_values().map(|import| import.path));
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else {
            return false;
        };
        list.path.is_ident("cfg") && list.tokens.to_string() == "test"
    })
}

/// The rooms of a crate from the ground up: the first column of the table in its root's documentation.
fn floors(root: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(root).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | `"));
    rows.map(|row| row.split('`').next().unwrap().to_owned())
        .collect()
}

/// Lists the problems of the imports between the rooms of a floor plan, which lie beside it, one line each.
fn faults(root: &str) -> Vec<String> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = repository.join(root);
    let folder = file.parent().unwrap();
    let floors = floors(&file);
    let imports = Crate::read(&file).imports();
    let short = |path: &Path| {
        path.strip_prefix(env!("CARGO_MANIFEST_DIR"))
            .unwrap()
            .display()
            .to_string()
    };
    let room = |path: &Path| {
        let below = path.strip_prefix(folder).ok()?;
        let room = below
            .iter()
            .next()?
            .to_str()?
            .trim_end_matches(".rs")
            .to_owned();
        Some(room).filter(|room| !["lib", "main", "mod"].contains(&room.as_str()))
    };
    let mut faults = Vec::new();
    let mut below: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
    for ((from, to), path) in &imports {
        let (Some(upper), Some(lower)) = (room(from), room(to)) else {
            continue;
        };
        let floor = |room: &str| floors.iter().position(|floor| floor == room);
        match (floor(&upper), floor(&lower)) {
            (None, _) => faults.push(format!(
                "{}: `{upper}` is not on the floor plan in {root}",
                short(from)
            )),
            (_, None) => faults.push(format!(
                "{}: `{lower}` is not on the floor plan in {root}",
                short(to)
            )),
            (Some(a), Some(b)) if a < b => faults.push(format!(
                "{} imports {} (`{path}`), but `{upper}` lies below `{lower}` in {root}",
                short(from),
                short(to)
            )),
            _ => below.entry(from).or_default().push(to),
        }
    }
    // A file that reaches itself is in a ring.
    for &start in below.keys() {
        let mut paths = vec![vec![start]];
        let mut seen = BTreeSet::new();
        while let Some(path) = paths.pop() {
            for &next in below.get(path[path.len() - 1]).into_iter().flatten() {
                if next == start && path.iter().min() == Some(&start) {
                    let ring: Vec<_> = path.iter().map(|file| short(file)).collect();
                    faults.push(format!(
                        "a ring of imports: {} -> {}",
                        ring.join(" -> "),
                        short(start)
                    ));
                } else if seen.insert(next) {
                    paths.push([&path[..], &[next]].concat());
                }
            }
        }
    }
    faults.sort();
    faults.dedup();
    faults
}

fn assert_down(root: &str) {
    let faults = faults(root);
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn imports_of_the_kernels_go_down() {
    assert_down("kernels/src/lib.rs");
}

#[test]
fn imports_of_the_c_interface_go_down() {
    assert_down("capi/src/lib.rs");
}

#[test]
fn imports_of_the_formats_go_down() {
    assert_down("formats/src/lib.rs");
}

#[test]
fn imports_of_the_characters_go_down() {
    assert_down("characters/src/lib.rs");
}

#[test]
fn imports_of_the_corpus_go_down() {
    assert_down("corpus/src/lib.rs");
}

#[test]
fn imports_of_the_frame_go_down() {
    assert_down("frame/src/lib.rs");
}

#[test]
fn imports_of_the_library_go_down() {
    assert_down("src/lib.rs");
}

#[test]
fn imports_of_the_shaders_go_down() {
    assert_down("shaders/src/lib.rs");
}

#[test]
fn imports_of_the_gpu_go_down() {
    assert_down("gpu/src/lib.rs");
}

#[test]
fn imports_of_the_program_go_down() {
    assert_down("src/main.rs");
}
