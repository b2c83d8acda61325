#!/usr/bin/env python3
"""A second evaluator of the corpus, from the text of the glTF 2.0 specification alone, in double precision.

    reference.py ASSETS             compares its vertices with *.expected.json; exit 1 if they are further apart than 1e-9
    reference.py ASSETS --mutants   shows that each mutant, a mistake that engines make, is caught by the asset for it
    reference.py ASSETS --answer    prints its vertices as an engine's answer (--mutant NAME: with a mistake)

It shares no code with skinbench and needs nothing but Python's standard library.
"""
import base64, json, math, pathlib, struct, sys

AGREE = 1e-9
IDENTITY = [[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 0], [0, 0, 0, 1.0]]

# Mistakes: what an engine does wrong, and the asset that is for it.
MUTANTS = {
    "no-inverse-binds": ("ignores inverse bind matrices", "plain"),
    "inverse-of-rest": ("takes the inverse of the nodes' rest pose for inverse bind matrices", "bind-pose-apart"),
    "binds-needed": ("inverts the rest pose where a skin has no inverse bind matrices", "no-inverse-binds"),
    "mesh-node": ("applies the transform of the mesh's node", "mesh-node-moved"),
    "joints-as-roots": ("ignores nodes above the skin's joints", "parent-moved"),
    "no-helpers": ("ignores nodes between joints that are no joints", "helper-between-joints"),
    "joints-sorted": ("takes joints in the order of nodes", "joints-reversed"),
    "first-skin": ("uses the first skin for all meshes", "two-skins"),
    "skeleton-space": ("leaves out the transform of skin.skeleton", "skeleton-above"),
    "no-shear": ("adds up scales of parents instead of multiplying matrices", "parent-uneven"),
    "positive-scale": ("loses the sign of scales", "scale-negative"),
    "four-influences": ("uses the first four influences", "influences-8"),
    "byte-joints": ("stores joints in a byte", "chain-400"),
    "raw-integers": ("does not normalise integers", "weights-u8"),
    "no-sparse": ("ignores sparse accessors", "sparse-positions"),
    "no-stride": ("ignores the stride of views", "interleaved"),
    "no-accessor-offset": ("ignores the offset of accessors", "offsets"),
    "nlerp": ("interpolates rotations on the chord", "slerp-wide"),
    "long-way": ("does not take the shorter way", "slerp-signs"),
    "cubic-shorter-way": ("takes the shorter way of splines", "cubic-signs"),
    "step-linear": ("interpolates STEP linearly", "step"),
    "cubic-linear": ("interpolates splines linearly", "cubic-translation"),
    "tangents-per-key": ("does not multiply tangents by the time between keys", "cubic-uneven-keys"),
    "cubic-unnormalised": ("does not normalise rotations of splines", "cubic-rotation"),
    "rest-before-first-key": ("shows the node's own value before the first key", "late-keys"),
    "repeats": ("starts anew after the last key", "beyond-the-end"),
    "identity-without-channel": ("resets properties that the animation does not move", "untouched-properties"),
    "first-animation": ("plays the first animation only", "second-animation"),
    "morph-after-skin": ("adds morph targets after the skin", "morph-skinned"),
    "mesh-weights": ("ignores the weights of nodes", "morph-node-weights"),
    "weights-clamped": ("clamps weights of morph targets to 0 to 1", "morph-weights-outside"),
    "target-after-target": ("reads all keys of one target, then all of the next", "morph-animated"),
    "no-morph-normals": ("does not morph normals", "morph-rest"),
}
SKIPPING = ("no-helpers", "joints-as-roots")
SIZES = {5120: "b", 5121: "B", 5122: "h", 5123: "H", 5125: "I", 5126: "f"}
ONES = {5120: 127.0, 5121: 255.0, 5122: 32767.0, 5123: 65535.0}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def f32(number):
    """The nearest single: numbers of a file count as such, however they are stored."""
    return struct.unpack("<f", struct.pack("<f", number))[0]


def times(a, b):
    return [[sum(a[r][k] * b[k][c] for k in range(4)) for c in range(4)] for r in range(4)]


def place(m, p, w):
    return [sum(m[r][k] * p[k] for k in range(3)) + m[r][3] * w for r in range(3)]


def columns(numbers):
    return [[float(numbers[4 * c + r]) for c in range(4)] for r in range(4)]


def unit(v):
    length = math.sqrt(sum(x * x for x in v))
    return [x / length for x in v] if length > 1e-9 else None


def inverse_affine(m):
    """The inverse of a matrix whose last row is 0 0 0 1; zero if there is none."""
    c = cofactors(m)
    det = sum(m[0][k] * c[0][k] for k in range(3))
    part = [[c[k][r] / det if det else 0.0 for k in range(3)] for r in range(3)]
    return [part[r] + [-sum(part[r][k] * m[k][3] for k in range(3))] for r in range(3)] + [[0, 0, 0, 1.0]]


def cofactors(m):
    def minor(r, c):
        (a, b), (d, e) = [[m[i][j] for j in range(3) if j != c] for i in range(3) if i != r]
        return (a * e - b * d) * (-1) ** (r + c)
    return [[minor(r, c) for c in range(3)] for r in range(3)]


class File:
    def __init__(self, path, mutant):
        self.mutant = mutant
        data = pathlib.Path(path).read_bytes()
        chunk = b""
        if data[:4] == b"glTF":
            length = struct.unpack("<I", data[12:16])[0]
            chunk = data[28 + length:]
            data = data[20:20 + length]
        self.json = json.loads(data)
        self.buffers = [base64.b64decode(b["uri"].split(",")[1]) if "uri" in b else chunk for b in self.json["buffers"]]
        self.nodes = self.json["nodes"]
        self.elements, self.worlds = {}, {}
        self.parents = {child: n for n, node in enumerate(self.nodes) for child in node.get("children", [])}

    def rows(self, view, offset, code, width, count):
        view = self.json["bufferViews"][view]
        size = struct.calcsize("<" + SIZES[code]) * width
        stride = size if self.mutant == "no-stride" else view.get("byteStride", size)
        start = view.get("byteOffset", 0) + (0 if self.mutant == "no-accessor-offset" else offset)
        data = self.buffers[view["buffer"]]
        data += bytes(max(0, start + stride * count - len(data)))
        return [list(struct.unpack_from(f"<{width}{SIZES[code]}", data, start + stride * i)) for i in range(count)]

    def read(self, index):
        """An accessor's elements: lists of numbers, normalised ones as fractions."""
        if index not in self.elements:
            self.elements[index] = self.decoded(index)
        return self.elements[index]

    def decoded(self, index):
        accessor = self.json["accessors"][index]
        code, width, count = accessor["componentType"], WIDTHS[accessor["type"]], accessor["count"]
        values = [[0.0] * width for _ in range(count)]
        if "bufferView" in accessor:
            values = self.rows(accessor["bufferView"], accessor.get("byteOffset", 0), code, width, count)
        if "sparse" in accessor and self.mutant != "no-sparse":
            sparse = accessor["sparse"]
            at, new = sparse["indices"], sparse["values"]
            indices = self.rows(at["bufferView"], at.get("byteOffset", 0), at["componentType"], 1, sparse["count"])
            news = self.rows(new["bufferView"], new.get("byteOffset", 0), code, width, sparse["count"])
            for (i,), value in zip(indices, news):
                values[i] = value
        if accessor.get("normalized") and self.mutant != "raw-integers":
            values = [[f32(max(v / ONES[code], -1.0)) for v in value] for value in values]
        return values

    def animated(self, animation, time):
        """Values of (node, path) at a time."""
        values = {}
        if animation is None:
            return values
        animation = self.json["animations"][0 if self.mutant == "first-animation" else animation]
        for channel in animation["channels"]:
            sampler, target = animation["samplers"][channel["sampler"]], channel["target"]
            keys = [t for (t,) in self.read(sampler["input"])]
            if self.mutant == "rest-before-first-key" and time < keys[0]:
                continue
            out, mode = self.read(sampler["output"]), sampler.get("interpolation", "LINEAR")
            if target["path"] == "weights":
                count = len(out) // len(keys) // (3 if mode == "CUBICSPLINE" else 1)
                flat = [v for (v,) in out]
                if self.mutant == "target-after-target" and mode != "CUBICSPLINE":
                    out = [[flat[len(keys) * c + k] for c in range(count)] for k in range(len(keys))]
                else:
                    out = [flat[i:i + count] for i in range(0, len(flat), count)]
            values[target["node"], target["path"]] = self.sample(keys, out, mode, time, target["path"] == "rotation")
        return values

    def sample(self, keys, out, mode, time, rotation):
        cubic = mode == "CUBICSPLINE"
        if self.mutant == "repeats" and time > keys[-1] > 0:
            time %= keys[-1]
        value = (lambda k: out[3 * k + 1]) if cubic else (lambda k: out[k])
        if time <= keys[0] or time >= keys[-1]:
            found = value(0 if time <= keys[0] else len(keys) - 1)
            return unit(found) if rotation else found
        k = max(i for i, key in enumerate(keys) if key <= time)
        span = keys[k + 1] - keys[k]
        t = (time - keys[k]) / span
        a, b = value(k), value(k + 1)
        if mode == "STEP" and self.mutant != "step-linear":
            return unit(a) if rotation else a
        if cubic and self.mutant != "cubic-linear":
            if self.mutant == "cubic-shorter-way" and rotation and sum(x * y for x, y in zip(a, b)) < 0:
                b = [-x for x in b]
            span = 1.0 if self.mutant == "tangents-per-key" else span
            t2, t3 = t * t, t * t * t
            found = [(2 * t3 - 3 * t2 + 1) * p + span * (t3 - 2 * t2 + t) * leave + (3 * t2 - 2 * t3) * q + span * (t3 - t2) * enter
                     for p, leave, q, enter in zip(a, out[3 * k + 2], b, out[3 * k + 3])]
            return unit(found) if rotation and self.mutant != "cubic-unnormalised" else found
        if rotation:
            dot = sum(x * y for x, y in zip(a, b))
            sign = -1.0 if dot < 0 and self.mutant != "long-way" else 1.0
            angle = math.acos(max(-1.0, min(1.0, sign * dot)))
            if angle > 1e-6 and self.mutant != "nlerp":
                start, end = math.sin(angle * (1 - t)) / math.sin(angle), sign * math.sin(angle * t) / math.sin(angle)
            else:
                start, end = 1 - t, sign * t
            return unit([start * x + end * y for x, y in zip(a, b)])
        return [(1 - t) * x + t * y for x, y in zip(a, b)]

    def local(self, index, values):
        node = self.nodes[index]
        if "matrix" in node:
            return columns(node["matrix"])
        own = {} if self.mutant == "identity-without-channel" and any(n == index for n, _ in values) else node
        x, y, z, w = values.get((index, "rotation")) or unit(own.get("rotation", [0, 0, 0, 1]))
        move = values.get((index, "translation")) or own.get("translation", [0, 0, 0])
        scale = values.get((index, "scale")) or own.get("scale", [1, 1, 1])
        if self.mutant == "positive-scale":
            scale = [abs(s) for s in scale]
        turn = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]
        return [[turn[r][c] * scale[c] for c in range(3)] + [move[r]] for r in range(3)] + [[0, 0, 0, 1.0]]

    def world(self, index, values, joints=()):
        """The transform of a node to world space; `joints` are those of its skin, which matter to mutants alone."""
        world, scales = self.to_world(index, values, tuple(joints))
        return [[v * s for v, s in zip(row, scales)] + row[3:] for row in world[:3]] + world[3:]

    def to_world(self, index, values, joints):
        if index is None:
            return IDENTITY, [1.0, 1.0, 1.0]
        if (index, joints) not in self.worlds:
            world, scales = self.to_world(self.parents.get(index), values, joints)
            between = index not in joints and self.mutant in SKIPPING and any(self.is_below(index, j) for j in joints)
            above = joints and index not in joints and not between
            if not (self.mutant == "no-helpers" and between or self.mutant == "joints-as-roots" and above):
                own = self.local(index, values)
                if self.mutant == "no-shear" and "matrix" not in self.nodes[index]:
                    scale = values.get((index, "scale")) or self.nodes[index].get("scale", [1, 1, 1])
                    own = [[v / s if s else 0.0 for v, s in zip(row, scale)] + row[3:] for row in own[:3]] + own[3:]
                    scales = [a * b for a, b in zip(scales, scale)]
                world = times(world, own)
            self.worlds[index, joints] = world, scales
        return self.worlds[index, joints]

    def is_below(self, index, other):
        while index is not None:
            index = self.parents.get(index)
            if index == other:
                return True
        return False

    def matrices(self, skin, values):
        """Joint matrices of a skin: the joint's world transform after the inverse bind matrix."""
        joints = sorted(skin["joints"]) if self.mutant == "joints-sorted" else skin["joints"]
        binds = [IDENTITY] * len(joints)
        if "inverseBindMatrices" in skin and self.mutant != "no-inverse-binds":
            binds = [columns(m) for m in self.read(skin["inverseBindMatrices"])]
        if self.mutant == "inverse-of-rest" or self.mutant == "binds-needed" and "inverseBindMatrices" not in skin:
            self.worlds = {}
            binds = [inverse_affine(self.world(joint, {})) for joint in joints]
            self.worlds = {}
        found = [times(self.world(joint, values, skin["joints"]), bind) for joint, bind in zip(joints, binds)]
        if self.mutant == "skeleton-space" and "skeleton" in skin:
            space = inverse_affine(self.world(skin["skeleton"], values))
            found = [times(space, m) for m in found]
        return found

    def show(self, animation, time):
        self.worlds = {}
        values = self.animated(animation, time)
        moment = {"animation": animation, "time": time, "positions": [], "normals": [], "tangents": []}
        for index, node in enumerate(self.nodes):
            if "mesh" in node:
                mesh = self.json["meshes"][node["mesh"]]
                weights = values.get((index, "weights")) or node.get("weights") or mesh.get("weights", [])
                if self.mutant == "mesh-weights":
                    weights = values.get((index, "weights")) or mesh.get("weights", [])
                if self.mutant == "weights-clamped":
                    weights = [max(0.0, min(1.0, w)) for w in weights]
                palette = None
                if "skin" in node:
                    skins = self.json["skins"]
                    palette = self.matrices(skins[0 if self.mutant == "first-skin" else node["skin"]], values)
                for primitive in mesh["primitives"]:
                    self.show_primitive(primitive, weights, palette, self.world(index, values), moment)
        return {name: value for name, value in moment.items() if value != []}

    def show_primitive(self, primitive, weights, palette, world, moment):
        attributes = primitive["attributes"]
        data = {name: self.read(accessor) for name, accessor in attributes.items()}
        streams = {name: data[name] for name in ("POSITION", "NORMAL", "TANGENT") if name in data}
        offsets = {name: [[0.0] * 3 for _ in rows] for name, rows in streams.items()}
        for weight, target in zip(weights, primitive.get("targets", [])):
            for name, accessor in target.items():
                if name == "NORMAL" and self.mutant == "no-morph-normals":
                    continue
                for sums, delta in zip(offsets[name], self.read(accessor)):
                    sums[:] = [s + weight * d for s, d in zip(sums, delta)]
        for vertex in range(len(data["POSITION"])):
            m = world
            if palette is not None:
                m = [[0.0] * 4 for _ in range(4)]
                for n in range(1 if self.mutant == "four-influences" else 4):
                    for joint, weight in zip(data.get(f"JOINTS_{n}", [[]] * (vertex + 1))[vertex], data.get(f"WEIGHTS_{n}", [[]] * (vertex + 1))[vertex]):
                        entry = palette[joint % 256 if self.mutant == "byte-joints" else joint]
                        m = [[a + weight * b for a, b in zip(x, y)] for x, y in zip(m, entry)]
                if self.mutant == "mesh-node":
                    m = times(world, m)
            for name, kind, w in (("POSITION", "positions", 1.0), ("NORMAL", "normals", 0.0), ("TANGENT", "tangents", 0.0)):
                if name in streams:
                    stored, offset = streams[name][vertex][:3], offsets[name][vertex]
                    if self.mutant == "morph-after-skin":
                        found = [p + d for p, d in zip(place(m, stored, w), offset)]
                    else:
                        found = place(m, [p + d for p, d in zip(stored, offset)], w)
                    moment[kind].append(found if w else unit(found))


def answer(expected, folder, mutant=None):
    file = File(folder / expected["file"], mutant)
    return [file.show(m["animation"], m["time"]) for m in expected["moments"]]


def error(expected, moments):
    """Largest distance over the diagonal, and largest difference of directions. The best of several answers counts."""
    def apart(got, want):
        if got is None or want is None:
            return 0.0 if want is None else 2.0
        return math.dist(got, want)
    position = direction = 0.0
    for want, got in zip(expected["moments"], moments):
        for kind in ("positions", "normals", "tangents"):
            if kind not in want:
                continue
            answers = [want[kind], *want.get(kind + "_or", [])]
            off = min(max(map(apart, got[kind], rows)) for rows in answers)
            if kind == "positions":
                position = max(position, off / expected["diagonal"])
            else:
                direction = max(direction, off)
    return position, direction


def main():
    folder = pathlib.Path(sys.argv[1])
    corpus = [json.loads(path.read_text()) for path in sorted(folder.glob("*.expected.json"))]
    mutant = sys.argv[4] if "--mutant" in sys.argv else None
    if "--answer" in sys.argv:
        assets = {e["asset"]: {"moments": answer(e, folder, mutant)} for e in corpus}
        json.dump({"engine": "reference.py", "version": corpus[0]["version"], "assets": assets}, sys.stdout)
        return 0
    wrong = 0
    if "--mutants" in sys.argv:
        for name, (mistake, asset) in MUTANTS.items():
            caught = []
            for expected in corpus:
                tolerance = expected["tolerance"]
                try:
                    position, direction = error(expected, answer(expected, folder, name))
                except IndexError:
                    # It reads a joint or a byte that there is not.
                    position, direction = math.inf, math.inf
                if not (position <= tolerance["position"] and direction <= tolerance["direction"]):
                    caught.append(expected["asset"])
            wrong += asset not in caught
            print(f"{name}: {mistake}: {'caught' if asset in caught else 'NOT caught'} by {asset}; by {len(caught)} assets in all")
        print(f"{len(MUTANTS)} mutants, {wrong} not caught by the asset for them")
        return wrong > 0
    for expected in corpus:
        position, direction = error(expected, answer(expected, folder))
        if not (position <= AGREE and direction <= AGREE):
            wrong += 1
            print(f"{expected['asset']}: the references differ by {position:.1e} of the diagonal, directions by {direction:.1e}")
    print(f"{len(corpus)} assets, {wrong} on which the references differ by more than {AGREE:.0e}")
    return wrong > 0


sys.exit(main())
