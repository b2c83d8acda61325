"""Panda3D: the importer panda3d-gltf, and vertices that the processor animates."""
import gltf
from answer import answer
from panda3d.core import (
    AnimControlCollection, Filename, GeomVertexReader, NodePath, PandaSystem, Thread, autoBind, loadPrcFileData,
)

loadPrcFileData("", "notify-level error")


def show(path, expected, moment):
    # Axes as in the file.
    settings = gltf.GltfSettings(skip_axis_conversion=True)
    root = NodePath(gltf.load_model(Filename.from_os_specific(str(path)), settings))
    if moment["animation"] is not None:
        controls = AnimControlCollection()
        autoBind(root.node(), controls, ~0)
        # The importer names animations by their number.
        control = controls.find_anim(f"anim{moment['animation']}")
        if control is None:
            raise ValueError("no animation is loaded")
        control.pose(moment["time"] * control.frame_rate)
    for character in root.find_all_matches("**/+Character"):
        character.node().force_update()
    parts = []
    for place in root.find_all_matches("**/+GeomNode"):
        for geom in place.node().get_geoms():
            parts.append(vertices(geom, place.get_mat(root)))
    return parts


def vertices(geom, world):
    shown = geom.get_vertex_data().animate_vertices(True, Thread.get_current_thread())
    part = {}
    for name, column, transform in (("positions", "vertex", world.xform_point), ("normals", "normal", world.xform_vec)):
        if shown.has_column(column):
            reader = GeomVertexReader(shown, column)
            part[name] = [list(transform(reader.get_data3())) for _ in range(shown.get_num_rows())]
    return part


answer("Panda3D", PandaSystem.get_version_string(), show)
