"""Blender: its importer of glTF, and evaluated meshes."""
import bpy
from answer import answer
from io_scene_gltf2.blender.imp.animation import BlenderAnimation

# The importer would play the first animation: what another one does not move would stay as that moved it.
BlenderAnimation.restore_animation = staticmethod(lambda *_: None)


def show(path, expected, moment):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=str(path), disable_bone_shape=True)
    scene = bpy.context.scene
    for data in [*bpy.data.objects, *bpy.data.shape_keys]:
        play(data, moment["animation"])
    if moment["animation"] is not None:
        frame = moment["time"] * scene.render.fps
        scene.frame_set(int(frame), subframe=frame % 1)
    graph = bpy.context.evaluated_depsgraph_get()
    # Names count up in the order of nodes.
    objects = sorted((o for o in scene.objects if o.type == "MESH"), key=lambda o: o.name)
    positions = []
    for shown in objects:
        shown = shown.evaluated_get(graph)
        for vertex in shown.data.vertices:
            x, y, z = shown.matrix_world @ vertex.co
            # Blender's z is up.
            positions.append([x, z, -y])
    return [{"positions": positions}]


def play(data, animation):
    """Plays one animation, whose tracks the importer names by its number."""
    motion = data.animation_data
    for track in motion.nla_tracks if motion else ():
        if track.name == f"Anim_{animation}":
            motion.action = track.strips[0].action
            motion.action_slot = track.strips[0].action_slot


answer("Blender", bpy.app.version_string, show)
