//! Elements and attributes of OgreXML: those that are read, and those that are known to be ignored.

use super::xml::Element;
use crate::unread::{Ignored, Unread};
use std::collections::{HashMap, HashSet};

/// Colours, further texture coordinates, bases for bump maps, which the reader of vertices leaves out; what follows from
/// other parts; and properties of materials. Attributes have an `@` before their names.
pub const IGNORED: Ignored = &[
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

/// The elements that are read in a mesh or a skeleton: each with its parent, and the attributes that are read.
const READ: &[&str] = &[
    "/mesh",
    "mesh/sharedgeometry vertexcount",
    "mesh/skeletonlink name",
    "mesh/submeshes",
    "mesh/boneassignments",
    "submeshes/submesh material operationtype usesharedvertices",
    "submesh/boneassignments",
    "submesh/faces count",
    "submesh/geometry vertexcount",
    "faces/face v1 v2 v3",
    "sharedgeometry/vertexbuffer",
    "geometry/vertexbuffer",
    "vertexbuffer/vertex",
    "vertex/position x y z",
    "vertex/normal x y z",
    "vertex/texcoord u v",
    "boneassignments/vertexboneassignment boneindex vertexindex weight",
    "/skeleton",
    "skeleton/bones",
    "skeleton/bonehierarchy",
    "skeleton/animations",
    "skeleton/animationlinks",
    "animationlinks/animationlink scale skeletonName",
    "bones/bone id name",
    "bone/position x y z",
    "bone/rotation angle",
    "bone/scale factor x y z",
    "rotation/axis x y z",
    "bonehierarchy/boneparent bone parent",
    "animations/animation length name",
    "animation/baseinfo baseanimationname basekeyframetime",
    "animation/tracks",
    "tracks/track bone",
    "track/keyframes",
    "keyframes/keyframe time",
    "keyframe/translate x y z",
    "keyframe/rotate angle",
    "keyframe/scale factor x y z",
    "rotate/axis x y z",
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
pub fn count_unread(root: Element, unread: &mut Unread) {
    let mut known: HashMap<(&str, &str), Vec<&str>> = HashMap::new();
    for element in READ {
        let (parent, rest) = element.split_once('/').unwrap_or_default();
        let mut words = rest.split(' ');
        let name = words.next().unwrap_or("");
        known.insert((parent, name), words.collect());
    }
    let mut next = vec![("", root)];
    while let Some((parent, element)) = next.pop() {
        let name = element.name();
        let Some(attributes) = known.get(&(parent, name)) else {
            unread.add(&format!("{parent}/{name}"));
            continue;
        };
        for attribute in element.attributes() {
            if !attributes.contains(&attribute) {
                unread.add(&format!("{name}@{attribute}"));
            }
        }
        let shares = name == "submesh" && shares_vertices(element);
        let mut seen = HashSet::new();
        for child in element.children() {
            let inner = child.name();
            if shares && ["geometry", "boneassignments"].contains(&inner) {
                unread.add(&format!("submesh/{inner} (beside shared vertices)"));
                continue;
            }
            if shares && inner == "faces" && draws_no_triangles(element) {
                unread.add("submesh/faces (points or lines of shared vertices)");
            }
            if ONCE.contains(&inner) && !seen.insert(inner) {
                unread.add(&format!("{name}/{inner} (all but one)"));
            }
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
pub const POINTS_AND_LINES: [&str; 3] = ["point_list", "line_list", "line_strip"];
