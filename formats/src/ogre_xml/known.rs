//! Elements and attributes of OgreXML: those that are read, and those that are known to be ignored.

use super::xml::Element;
use crate::unread::{Ignored, Unread};
use std::collections::HashMap;

/// Colours, further texture coordinates, bases for bump maps, which the reader of vertices leaves out; what follows from
/// other parts; and properties of materials. Attributes have an `@` before their names.
pub(crate) const IGNORED: Ignored = &[
    "mesh/boundsinfo",
    "mesh/submeshnames",
    "skeleton@blendmode",
    "submesh/textures",
    "submesh@use32bitindexes",
    "texcoord@w",
    "vertex/binormal",
    "vertex/colour_diffuse",
    "vertex/colour_specular",
    "vertex/tangent",
    "vertex/texcoord (after the first)",
    "vertexbuffer@*",
];

/// An element: the name of its parent and its own, and the attributes that are read.
type Known = (&'static str, &'static str, &'static [&'static str]);

const XYZ: &[&str] = &["x", "y", "z"];
const SCALES: &[&str] = &["factor", "x", "y", "z"];

/// The elements that are read in a mesh or a skeleton.
const READ: &[Known] = &[
    ("", "mesh", &[]),
    ("mesh", "sharedgeometry", &["vertexcount"]),
    ("mesh", "skeletonlink", &["name"]),
    ("mesh", "submeshes", &[]),
    ("mesh", "boneassignments", &[]),
    (
        "submeshes",
        "submesh",
        &["material", "operationtype", "usesharedvertices"],
    ),
    ("submesh", "boneassignments", &[]),
    ("submesh", "faces", &["count"]),
    ("submesh", "geometry", &["vertexcount"]),
    ("faces", "face", &["v1", "v2", "v3"]),
    ("sharedgeometry", "vertexbuffer", &[]),
    ("geometry", "vertexbuffer", &[]),
    ("vertexbuffer", "vertex", &[]),
    ("vertex", "position", XYZ),
    ("vertex", "normal", XYZ),
    ("vertex", "texcoord", &["u", "v"]),
    (
        "boneassignments",
        "vertexboneassignment",
        &["boneindex", "vertexindex", "weight"],
    ),
    ("", "skeleton", &[]),
    ("skeleton", "bones", &[]),
    ("skeleton", "bonehierarchy", &[]),
    ("skeleton", "animations", &[]),
    ("skeleton", "animationlinks", &[]),
    (
        "animationlinks",
        "animationlink",
        &["scale", "skeletonName"],
    ),
    ("bones", "bone", &["id", "name"]),
    ("bone", "position", XYZ),
    ("bone", "rotation", &["angle"]),
    ("bone", "scale", SCALES),
    ("rotation", "axis", XYZ),
    ("bonehierarchy", "boneparent", &["bone", "parent"]),
    ("animations", "animation", &["length", "name"]),
    (
        "animation",
        "baseinfo",
        &["baseanimationname", "basekeyframetime"],
    ),
    ("animation", "tracks", &[]),
    ("tracks", "track", &["bone"]),
    ("track", "keyframes", &[]),
    ("keyframes", "keyframe", &["time"]),
    ("keyframe", "translate", XYZ),
    ("keyframe", "rotate", &["angle"]),
    ("keyframe", "scale", SCALES),
    ("rotate", "axis", XYZ),
];

/// The elements of which only one is read inside another.
const ONCE: &[&str] = &[
    "axis",
    "baseinfo",
    "faces",
    "geometry",
    "position",
    "rotate",
    "rotation",
    "scale",
    "sharedgeometry",
    "skeletonlink",
    "translate",
];

/// Counts the elements and attributes of a document that are not read, and texts between them. What is inside an element
/// that is not read is not counted.
pub(super) fn count_unread(root: Element, unread: &mut Unread) {
    let mut known_in: HashMap<&str, Vec<&Known>> = HashMap::new();
    for known in READ {
        known_in.entry(known.0).or_default().push(known);
    }
    let mut next = vec![("", root)];
    while let Some((parent, element)) = next.pop() {
        let name = element.name();
        let known = known_in.get(parent).map_or(&[][..], Vec::as_slice);
        // The lists of mesh animations have the names of a skeleton's.
        let is_mesh_animation = parent == "mesh" && name == "animations";
        let known = known
            .iter()
            .find(|known| known.1 == name && !is_mesh_animation);
        let Some((.., attributes)) = known else {
            unread.add(&format!("{parent}/{name}"));
            continue;
        };
        for attribute in element.attributes() {
            if !attributes.contains(&attribute) {
                unread.add(&format!("{name}@{attribute}"));
            }
        }
        let shares = name == "submesh" && shares_vertices(element);
        // One bit for each of the elements that are read once.
        let mut seen = 0u32;
        for child in element.children() {
            let own = child.name();
            if shares && ["geometry", "boneassignments"].contains(&own) {
                unread.add(&format!("submesh/{own} (beside shared vertices)"));
                continue;
            }
            if shares && own == "faces" && draws_no_triangles(element) {
                unread.add("submesh/faces (points or lines of shared vertices)");
            }
            let bit = ONCE.iter().position(|once| *once == own);
            let bit = bit.map_or(0, |bit| 1 << bit);
            if seen & bit != 0 {
                unread.add(&format!("{name}/{own} (all but one)"));
            }
            seen |= bit;
            next.push((name, child));
        }
    }
    for _ in 0..root.texts() {
        unread.add("text between elements");
    }
}

/// Returns whether a submesh uses the vertices of the mesh.
fn shares_vertices(submesh: Element) -> bool {
    let shares = submesh.text("usesharedvertices").ok().flatten();
    shares.is_some_and(|shares| shares == "true")
}

/// Returns whether a submesh has points or lines.
fn draws_no_triangles(submesh: Element) -> bool {
    let operation = submesh.text("operationtype").ok().flatten();
    operation.is_some_and(|operation| POINTS_AND_LINES.contains(&&*operation))
}

/// Values of `operationtype` for what is not made of triangles.
pub(super) const POINTS_AND_LINES: [&str; 3] = ["point_list", "line_list", "line_strip"];
