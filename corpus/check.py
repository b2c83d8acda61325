#!/usr/bin/env python3
"""Judges an engine's answer by the corpus: check.py ANSWER.json [ASSETS]

Prints a line for each asset: its verdict, the largest position error over the diagonal, the largest angle of a normal or
tangent in radians, and where. Exit 1 if the engine is wrong somewhere. Needs Python's standard library alone.
README.md describes the answer.
"""
import json, math, pathlib, sys


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
    """The error of the answer that is nearest, of those that count as right."""
    answers = [moment[name], *moment.get(name + "_or", [])]
    return min(largest(measure(g, w) for g, w in zip(got, want)) for want in answers)


def judge(expected, answered):
    """A verdict, the errors, and the place of the largest position error."""
    if answered is None:
        return "missing", None, None, "not in the answer"
    if answered.get("refused"):
        return "refused", None, None, answered["refused"]
    moments = answered.get("moments", [])
    if [m["time"] for m in moments] != [m["time"] for m in expected["moments"]]:
        return "missing", None, None, "other times than " + str([m["time"] for m in expected["moments"]])
    position, direction, place = 0.0, 0.0, ""
    for want, got in zip(expected["moments"], moments):
        count = len(want["positions"])
        for name in ("positions", "normals", "tangents"):
            if got.get(name) is not None and len(got[name]) != count:
                return "missing", None, None, f"{len(got[name])} {name}; expected {count}"
        off, vertex = nearest(want, "positions", got["positions"], distance)
        if off / expected["diagonal"] > position:
            position = off / expected["diagonal"]
            place = f"time {want['time']}, vertex {vertex}"
        for name in ("normals", "tangents"):
            if name in want and got.get(name) is not None:
                direction = max(direction, nearest(want, name, got[name], angle)[0])
    tolerance = expected["tolerance"]
    right = position <= tolerance["position"] and direction <= tolerance["direction"]
    verdict = "right" if right else "differs" if expected["optional"] else "wrong"
    return verdict, position, direction, "" if right else place


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else pathlib.Path(__file__).parent / "assets")
    answer = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    files = sorted(folder.glob("*.expected.json"))
    if not files:
        print(f"{folder}: no *.expected.json", file=sys.stderr)
        return 2
    counts = {}
    for file in files:
        expected = json.loads(file.read_text(encoding="utf-8"))
        verdict, position, direction, note = judge(expected, answer["assets"].get(expected["asset"]))
        counts[verdict] = counts.get(verdict, 0) + 1
        errors = "" if position is None else f"{position:.1e}  {direction:.1e}"
        print(f"{expected['asset']:24} {verdict:14} {errors:18} {note}".rstrip())
        if verdict in ("wrong", "missing"):
            print(f"    {expected['condition']}\n    {expected['clause']}")
    print(f"{answer['engine']}: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return 1 if counts.get("wrong") or counts.get("missing") else 0


if __name__ == "__main__":
    sys.exit(main())
