"""The shortest peer: see docs/peers.md for the protocol."""
import json, os, sys, time
import numpy as np


def load(request):
    global model, array, instances, clips, vertices
    model = json.load(open(request["model"]))
    words = np.fromfile(os.path.dirname(request["model"]) + "/model.bin", "<f4")
    array = lambda at, kind="<f4": words[at[0]:at[0] + at[1]].view(kind)
    fields = [("clip", "<u4"), ("phase", "<u4"), ("step", "<u4"), ("base", "<f4"), ("scale", "<f4")]
    instances = np.fromfile(request["instances"], fields)
    clips = model["clips"]
    corners = model["influences"]
    joints, weights = array(model["joints"], "<u4").reshape(-1, corners), array(model["weights"]).reshape(-1, corners)
    bound = np.stack([array(model["positions"]).reshape(-1, 3), array(model["normals"]).reshape(-1, 3)], 2)
    bound = np.concatenate([bound, np.broadcast_to([[[1, 0]]], (len(bound), 1, 2)).astype("f4")], 1)
    vertices = joints, weights, bound
    return {"device": f"numpy {np.__version__}"}


def sample(tick):
    local = np.tile(array(model["rest"]).reshape(-1, 10), (len(instances), 1, 1))
    phase = instances["phase"] + instances["step"] * np.uint32(tick)
    seconds = (phase >> 8).astype("f4") * instances["scale"] + instances["base"]
    for index, clip in enumerate(clips):
        of = np.flatnonzero(instances["clip"] == index)
        for track in clip["tracks"] if len(of) else []:
            times, first, width = array(track["times"]), *{"rotation": (0, 4), "translation": (4, 3), "scale": (7, 3)}[track["channel"]]
            values = array(track["values"]).reshape(-1, width)
            key = np.clip(np.searchsorted(times, seconds[of], "right") - 1, 0, max(len(times) - 2, 0))
            after = np.minimum(key + 1, len(times) - 1)
            part = np.clip((seconds[of] - times[key]) / np.maximum(times[after] - times[key], 1e-9), 0, 1)[:, None]
            if track["interpolation"] == "step":
                part = np.floor(part)
            a, b = values[key], values[after]
            if track["channel"] == "rotation":
                b = np.where((a * b).sum(1, keepdims=True) < 0, -b, b)
            value = a + (b - a) * part
            if track["channel"] == "rotation":
                value /= np.linalg.norm(value, axis=1, keepdims=True)
            local[of, track["joint"], first:first + width] = value
    return local


def to_model(local):
    x, y, z, w = np.moveaxis(local[..., :4], -1, 0)
    turned = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),
                       2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
                       2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], -1).reshape(*x.shape, 3, 3)
    own = np.concatenate([turned * local[..., None, 7:], local[..., 4:7, None]], -1)
    out = np.empty_like(own)
    for joint, parent in enumerate(model["parents"]):
        out[:, joint] = own[:, joint] if parent < 0 else times(out[:, parent], own[:, joint])
    return out


def times(a, b):
    return a[..., :3] @ b + np.concatenate([np.zeros_like(a[..., :3]), a[..., 3:]], -1)


def skin(palette):
    joints, weights, bound = vertices
    out = np.empty((len(palette), len(joints), 6), "f4")
    for instance, entries in enumerate(palette):
        blended = (weights[:, None, :] @ entries.reshape(-1, 12)[joints]).reshape(-1, 3, 4)
        out[instance] = np.swapaxes(blended @ bound, 1, 2).reshape(-1, 6)
    return out


def frame(tick):
    global last
    clock, now = [time.perf_counter_ns()], lambda: clock.append(time.perf_counter_ns())
    local = sample(tick); now()
    posed = to_model(local); now()
    binds = array(model["inverse_binds"]).reshape(-1, 3, 4)
    palette = times(posed[:, array(model["palette_joints"], "<u4")], binds); now()
    skinned = skin(palette); now()
    stages = dict(zip(["sample", "local_to_model", "palette", "skin"], np.diff(clock).tolist()))
    last = {"local": local, "model": posed, "palette": palette, "vertices": skinned}
    return stages | {"frame": clock[-1] - clock[0]}


def write(request):
    if "tick" in request:
        frame(request["tick"])
    for name, path in request["outputs"].items():
        last[name].astype("<f4").tofile(path)
    return {}


def measure(request):
    measured = [frame(request["tick"] + i) for i in range(request["frames"])]
    return {"stages": {stage: [times[stage] for times in measured] for stage in measured[0]}}


HELLO = {"protocol": 1, "outputs": ["local", "model", "palette", "vertices"], "attributes": ["pn"], "normals": ["raw"], "rotations": "nlerp"}
for line in sys.stdin:
    request = json.loads(line)
    if request["request"] == "quit":
        break
    answer = {"hello": lambda _: HELLO, "load": load, "write": write, "measure": measure}[request["request"]](request)
    print(json.dumps(answer), flush=True)
