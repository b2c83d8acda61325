"""raylib: LoadModel, LoadModelAnimations and UpdateModelAnimation, with its renderer in main memory."""
import raylib as rl
from answer import answer

# What raylib's importer takes in a second.
KEYFRAMES = 60


def show(path, expected, moment):
    rl.SetTraceLogLevel(rl.LOG_NONE)
    rl.InitWindow(16, 16, b"corpus")
    model = rl.LoadModel(str(path).encode())
    if moment["animation"] is not None:
        count = rl.ffi.new("int *")
        animations = rl.LoadModelAnimations(str(path).encode(), count)
        if count[0] <= moment["animation"]:
            raise ValueError("no animation is loaded")
        rl.UpdateModelAnimation(model, animations[moment["animation"]], moment["time"] * KEYFRAMES)
    parts = []
    for index in range(model.meshCount):
        mesh = model.meshes[index]
        is_posed = moment["animation"] is not None and mesh.animVertices != rl.ffi.NULL
        numbers = {
            "positions": mesh.animVertices if is_posed else mesh.vertices,
            "normals": mesh.animNormals if is_posed else mesh.normals,
        }
        parts.append({
            name: [list(list_[3 * i : 3 * i + 3]) for i in range(mesh.vertexCount)]
            for name, list_ in numbers.items() if list_ != rl.ffi.NULL
        })
    if not parts:
        raise ValueError("no mesh is loaded")
    return parts


answer("raylib", rl.RAYLIB_VERSION, show)
