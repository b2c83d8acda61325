#!/usr/bin/env python3
"""Judges an engine's answer by the corpus. Prints a line for each asset: its verdict, the largest position
error over the diagonal, the largest angle of a normal or tangent in radians, and where. Exit 1 if the engine is wrong
somewhere, or if the answer lacks an asset. Needs Python's standard library alone. README.md describes the answer.
"""
import argparse, json, math, pathlib, signal, sys


def leave(text):
    print(f"error: {text}", file=sys.stderr)
    sys.exit(2)


def number(value):
    return math.nan if value is None else float(value)


def distance(got, want):
    return math.dist([number(v) for v in got], want)


def angle(got, want):
    """The angle between directions of any length; nothing is wanted where there is no direction."""
    if want is None:
        return 0.0
    got = [number(v) for v in got or ()]
    length = math.hypot(*got)
    if not length > 0:
        return math.pi
    got = [v / length for v in got]
    return 2 * math.atan2(math.dist(got, want), math.dist(got, [-v for v in want]))


def largest(errors):
    """The largest error and its index; what is no number is larger than anything."""
    finite = [math.inf if math.isnan(error) else error for error in errors]
    index = finite.index(max(finite))
    return finite[index], index


def nearest(moment, name, got, measure):
    """The error of the answer that is nearest, of those that count as right, with the vertex and what it should be."""
    found = []
    for answer in [moment[name], *moment.get(name + "_or", [])]:
        error, vertex = largest(map(measure, got, answer))
        found.append((error, vertex, answer[vertex]))
    return min(found, key=lambda one: one[0])


def vector(values):
    numbers = ["null" if v is None else f"{v + 0.0:.6f}" for v in values or ()]
    return "null" if values is None else f"[{', '.join(numbers)}]"


def times(moments):
    return ", ".join(f"{moment['time']:.3f}" for moment in moments)


def judge(expected, answered):
    """A verdict, the errors, and the place of the error that decides. Directions that are not given have no error."""
    if answered is None:
        return "missing", None, None, "not in the answer"
    if answered.get("refused"):
        return "refused", None, None, answered["refused"]
    moments = answered.get("moments", [])
    if times(moments) != times(expected["moments"]):
        return "missing", None, None, f"times {times(moments)}; expected {times(expected['moments'])}"
    position, direction, places = 0.0, None, {}
    for want, got in zip(expected["moments"], moments):
        count = len(want["positions"])
        for name in ("positions", "normals", "tangents"):
            if got.get(name) is not None and len(got[name]) != count:
                return "missing", None, None, f"{len(got[name])} {name}; expected {count}"
        at = f"time {want['time']:.3f}, vertex"
        off, vertex, right = nearest(want, "positions", got["positions"], distance)
        if off / expected["diagonal"] > position:
            position = off / expected["diagonal"]
            given = vector(got["positions"][vertex])
            places["position"] = f"{at} {vertex}: expected {vector(right)}, given {given}"
        for name in ("normals", "tangents"):
            if name in want and got.get(name) is not None:
                off, vertex, right = nearest(want, name, got[name], angle)
                if direction is None or off > direction:
                    direction, given = off, vector(got[name][vertex])
                    places["direction"] = f"{at} {vertex}, {name}: expected {vector(right)}, given {given}"
    tolerance = expected["tolerance"]
    is_near = position <= tolerance["position"]
    if is_near and (direction or 0.0) <= tolerance["direction"]:
        return "right", position, direction, ""
    place = places["direction" if is_near else "position"]
    return "differs" if expected["optional"] else "wrong", position, direction, place


def read_answer(file):
    def refuse(word):
        raise ValueError(f"{word} is no JSON; a number that is not finite is null")

    try:
        answer = json.loads(pathlib.Path(file).read_text(encoding="utf-8"), parse_constant=refuse)
    except (OSError, ValueError) as error:
        leave(f"{file}: {error}")
    if not (isinstance(answer, dict) and isinstance(answer.get("engine"), str) and isinstance(answer.get("assets"), dict)):
        leave(f'{file}: expected an object with "engine", a name, and "assets", an object')
    return answer


def read_expected(folder, answer, names):
    """The expected files of the assets with these names, or of all."""
    files = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.expected.json"))]
    if not files:
        leave(f"{folder}: no *.expected.json")
    unknown = sorted({*names, *answer["assets"]} - {expected["asset"] for expected in files})
    if unknown:
        leave(f"unknown asset {', '.join(unknown)}; expected names of files in {folder}")
    return [expected for expected in files if not names or expected["asset"] in names]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answer", metavar="ANSWER.json")
    parser.add_argument("names", metavar="ASSET", nargs="*", help="name of an asset to judge; default: all")
    parser.add_argument("--assets", type=pathlib.Path, default=pathlib.Path(__file__).parent / "assets", help="folder")
    arguments = parser.parse_args()
    answer = read_answer(arguments.answer)
    counts = {}
    corpus = read_expected(arguments.assets, answer, arguments.names)
    shown = [expected for expected in corpus if arguments.names or expected["asset"] in answer["assets"]]
    for expected in shown:
        asset = expected["asset"]
        try:
            verdict, position, direction, note = judge(expected, answer["assets"].get(asset))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            verdict, position, direction, note = "missing", None, None, "not of the form that README.md describes"
        counts[verdict] = counts.get(verdict, 0) + 1
        errors = ["-" if error is None else f"{error:.1e}" for error in (position, direction)]
        print(f"{asset:24} {verdict:8} {errors[0]:8} {errors[1]:8} {note}".rstrip())
        if verdict in ("wrong", "missing"):
            print(f"    {expected['condition']}\n    {expected['clause']}")
    lacking = len(corpus) - len(shown)
    if lacking:
        print("1 asset is not in the answer" if lacking == 1 else f"{lacking} assets are not in the answer")
        counts["missing"] = counts.get("missing", 0) + lacking
    print(f"{answer['engine']}: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return 1 if counts.get("wrong") or counts.get("missing") else 0


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Ends quietly when nobody reads on.
    sys.exit(main())
