"""A peer in plain Python that skins correctly, or does wrong what its argument says."""
import json, math, os, struct, sys, time

MODE = sys.argv[1]
loaded = []


def unpack(kind, data):
    return list(struct.unpack(f"<{len(data) // 4}{kind}", data))


def load(request):
    model = json.load(open(request["model"]))
    words = open(os.path.dirname(request["model"]) + "/model.bin", "rb").read()
    data = open(request["instances"], "rb").read()
    instances = list(struct.iter_unpack("<IIIff", data))
    assert len(instances) == request["count"]
    loaded.append((model, words, instances))
    error = 0.01 if MODE == "lossy" and len(loaded) == 1 else 0
    device = f"Python {len(loaded)}" if MODE == "devices" else "Python"
    return {"device": device, "error": {"pose": error, "position": error, "normal": error}, "memory": {"clips": 1000}}


def array(name_or_at, kind="f"):
    first, count = model[name_or_at] if isinstance(name_or_at, str) else name_or_at
    return unpack(kind, words[4 * first:4 * (first + count)])


def groups(values, size):
    return [values[i:i + size] for i in range(0, len(values), size)]


def times(a, b):
    def cell(i, k):
        return sum(a[4 * i + j] * b[4 * j + k] for j in range(3)) + (a[4 * i + 3] if k == 3 else 0)
    return [cell(i, k) for i in range(3) for k in range(4)]


def pose(clip, seconds):
    local = groups(array("rest"), 10)
    for track in model["clips"][clip]["tracks"]:
        first, width = {"rotation": (0, 4), "translation": (4, 3), "scale": (7, 3)}[track["channel"]]
        keys, values = array(track["times"]), groups(array(track["values"]), width)
        k = max([k for k in range(len(keys)) if keys[k] <= seconds] or [0])
        after = min(k + 1, len(keys) - 1)
        part = min(max((seconds - keys[k]) / (keys[after] - keys[k]), 0), 1) if after > k else 0
        part = part if track["interpolation"] == "linear" else 0
        a, b = values[k], values[after]
        if width == 4 and sum(x * y for x, y in zip(a, b)) < 0:
            b = [-x for x in b]
        value = [x + (y - x) * part for x, y in zip(a, b)]
        length = math.sqrt(sum(x * x for x in value)) if width == 4 else 1
        local[track["joint"]][first:first + width] = [x / length for x in value]
    posed = []
    for (x, y, z, w, *moved, sx, sy, sz), parent in zip(local, model["parents"]):
        turned = [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), 2 * (x * y + z * w), 1 - 2 * (x * x + z * z),
                  2 * (y * z - x * w), 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]
        own = [n for i in range(3) for n in [turned[3 * i] * sx, turned[3 * i + 1] * sy, turned[3 * i + 2] * sz, moved[i]]]
        posed.append(own if parent < 0 else times(posed[parent], own))
    binds = groups(array("inverse_binds"), 12)
    return [times(posed[joint], bind) for joint, bind in zip(array("palette_joints", "I"), binds)]


def skin(palette):
    corners = model["influences"]
    joints, weights = groups(array("joints", "I"), corners), groups(array("weights"), corners)
    if MODE in ("weight", "lossy"):
        weights[50][0] *= 0.99
    out = []
    for p, n, own, shares in zip(groups(array("positions"), 3), groups(array("normals"), 3), joints, weights):
        m = [sum(share * palette[joint][i] for joint, share in zip(own, shares)) for i in range(12)]
        out += [sum(m[4 * i + j] * p[j] for j in range(3)) + m[4 * i + 3] for i in range(3)]
        out += [sum(m[4 * i + j] * n[j] for j in range(3)) for i in range(3)]
    return out


def frame(tick):
    global last, model, words
    last, times = ([], []), {"pose": 0, "skin": 0}
    start = time.perf_counter_ns()
    for model, words, instances in reversed(loaded) if MODE == "order" else loaded:
        began = time.perf_counter_ns()
        seconds = [(((phase + step * tick) % 2**32) >> 8) * scale + base for _, phase, step, base, scale in instances]
        if MODE == "time":
            seconds[3] += 0.01
        palettes = [pose(instance[0], at) for instance, at in zip(instances, seconds)]
        posed = time.perf_counter_ns()
        last[0].extend(palettes)
        last[1].extend(number for palette in palettes for number in skin(palette))
        times["pose"] += posed - began
        times["skin"] += time.perf_counter_ns() - posed
    return times | {"frame": time.perf_counter_ns() - start}


def wait():
    start = time.perf_counter_ns()
    while time.perf_counter_ns() - start < 2 * 10**7:
        pass
    return {"frame": time.perf_counter_ns() - start}


def write(request):
    if "tick" in request:
        frame(request["tick"])
    palettes, vertices = last
    if MODE == "nan":
        vertices[7] = math.nan
    if MODE == "few":
        vertices.pop()
    if MODE == "many":
        vertices.append(0)
    for name, numbers in [("palette", [number for palette in palettes for entry in palette for number in entry]), ("vertices", vertices)]:
        if MODE == "stale" and request.get("tick") != 0:
            break
        open(request["outputs"][name], "wb").write(struct.pack(f"<{len(numbers)}f", *numbers))
    return {}


def measure(request):
    if MODE == "idle":
        frames = [wait() for _ in range(request["frames"])]
    else:
        frames = [frame(request["tick"] + i - (MODE == "late")) for i in range(request["frames"])]
    if MODE == "zero":
        frames[0]["skin"] = 0
    if MODE == "faster":
        frames = [{stage: ns // 10 + 1 for stage, ns in times.items()} for times in frames]
    if MODE == "slower":
        frames = [{stage: ns * 100 for stage, ns in times.items()} for times in frames]
    if MODE == "parts":
        frames[0]["skin"] = 2 * frames[0]["frame"]
    if MODE == "fewer":
        frames.append(frames[0])
    if MODE == "nameless":
        return {"stages": {"dance": [1]}}
    return {"stages": {stage: [times[stage] for times in frames] for stage in frames[0]}}


def hello(_):
    if MODE == "exit":
        sys.exit("no licence found")
    if MODE == "garbage":
        return "hello yourself"
    if MODE == "flood":
        while True:
            sys.stdout.write("x" * 65536)
    if MODE == "version":
        return {**ABLE, "protocol": 7}
    return ABLE


ABLE = {"protocol": 1, "outputs": ["palette", "vertices"], "attributes": ["pn"], "normals": ["raw"], "rotations": "nlerp"}
if MODE != "single":
    ABLE["groups"] = True
for line in sys.stdin:
    request = json.loads(line)
    name = request["request"]
    if name == "quit":
        break
    if MODE == "hang" and name == "measure":
        os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "1000")
        time.sleep(1000)
    answer = {"hello": hello, "load": load, "write": write, "measure": measure}[name](request)
    if MODE == "refuse" and name == "load":
        answer = {"refused": "the moon\n\x1b[31m is full"}
    if MODE == "error" and name == "load":
        answer = {"device": "", "error": {"pose": 1, "position": 1, "normal": 1}}
    if MODE == "memory" and name == "load":
        answer = {"device": "", "memory": {"mesh": 2**64 - 1, "clips": 2**64 - 1}}
    print(json.dumps(answer), flush=True)
    if MODE == "chatter" and name == "write":
        print("{}", flush=True)
