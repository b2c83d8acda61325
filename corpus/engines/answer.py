"""What the engines here in Python share: the files of the corpus, and the answer on standard output."""
import json, math, multiprocessing, os, pathlib, sys

ASSETS = pathlib.Path(__file__).resolve().parent.parent / "assets"


def answer(engine, version, show):
    """Prints the answer of an engine. show(path, expected, moment) returns the vertices of a file at a moment: for each of the
    expected parts {"positions": [[x, y, z]...], "normals": [[x, y, z]...]}, without normals where the engine computes none.
    What it raises is why the engine refuses the file. Each file is shown in a process of its own, as it may end it.
    """
    processes = multiprocessing.get_context("fork")
    assets = {}
    for file in sorted(ASSETS.glob("*.expected.json")):
        expected = json.loads(file.read_text(encoding="utf-8"))
        receiver, sender = processes.Pipe(duplex=False)
        process = processes.Process(target=answer_one, args=(sender, show, expected))
        process.start()
        sender.close()
        try:
            assets[expected["asset"]] = receiver.recv()
        except EOFError:
            process.join()
            assets[expected["asset"]] = {"refused": f"the process ends with {process.exitcode}"}
        process.join()
    json.dump({"engine": engine, "version": version, "assets": assets}, sys.stdout)


def finite(number):
    """The number; JSON has none that is not finite."""
    return number if math.isfinite(number) else None


def answer_one(sender, show, expected):
    # Standard output is for the answer.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    moments = []
    for moment in expected["moments"]:
        try:
            parts = show(ASSETS / expected["file"], expected, moment)
        except Exception as error:
            lines = str(error).strip().splitlines()
            sender.send({"refused": lines[-1] if lines else type(error).__name__})
            return
        told = {"time": moment["time"]}
        for name in ("positions", "normals"):
            if all(name in part for part in parts):
                told[name] = [[finite(number) for number in vertex] for part in parts for vertex in part[name]]
        moments.append(told)
    sender.send({"moments": moments})
    sender.close()
    # Engines that clean up may hang or crash.
    os._exit(0)
