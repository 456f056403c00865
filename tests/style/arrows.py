"""Fails on an include that the map of rooms does not allow (README.md, "The map").

An arrow to a room includes its sub-rooms. kernels/ and ops/ never include each other; nobody includes tests/ or
benches/; doors show neither Eigen, protobuf, LevelDB nor CLI11.
"""
import pathlib
import re
import sys

ALLOWED = {
    "graph/io": {"graph/error.h", "graph/location.h"},
    "graph": {"graph"},
    "kernels": {"graph", "kernels"},
    "ops": {"graph", "ops"},
    "summary": {"graph", "ops", "summary"},
    "train/checkpoint": {"graph", "ops", "train/checkpoint", "train/proto"},
    "train/cli": {"graph/graph.h", "graph/utf8.h", "ops/ops.h", "summary/summary.h", "train/train.h", "train/cli"},
    "train/examples": {"runnel/", "train/examples"},
    "train": {"graph", "ops", "summary", "train"},
    "tests": {""},
    "benches": {""},
}
HIDDEN = re.compile(r"<(Eigen|google|leveldb|re2|CLI)/|\.pb\.h")


def room_of(path):
    """The longest room that holds the file."""
    return max((r for r in ALLOWED if str(path).startswith(r + "/")), key=len)


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#include\s+("([^"]+)"|<(runnel/[^>]+)>)', line)
        if found:
            yield number, found.group(2) or found.group(3)


def main(root):
    wrong = []
    for path in sorted(root.rglob("*")):
        local = path.relative_to(root)
        if path.suffix not in (".h", ".cc") or local.parts[0].startswith(("build", ".")):
            continue
        room = room_of(local)
        for number, name in includes(path):
            if name.startswith("runnel/") and name.endswith(".pb.h"):
                continue
            if not any(name == a or name.startswith(a.rstrip("/") + "/") or a == "" for a in ALLOWED[room]):
                if room == "graph/io" and name.startswith("graph/io/"):
                    continue
                wrong.append(f"{local}:{number}: {room}/ may not include {name}")
        if path.suffix == ".h" and room not in ("tests", "benches", "train/cli"):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if HIDDEN.search(line) and local in doors(root):
                    wrong.append(f"{local}:{number}: a door shows {line.strip()}")
    print("\n".join(wrong) or "every include follows the map")
    return 1 if wrong else 0


def doors(root, cache={}):
    """Every header that a door reaches."""
    if not cache:
        todo = [pathlib.Path(d) for d in ("graph/graph.h", "ops/ops.h", "summary/summary.h", "train/train.h")]
        while todo:
            local = todo.pop()
            if local in cache or not (root / local).exists():
                continue
            cache[local] = True
            todo += [pathlib.Path(name) for _, name in includes(root / local)]
    return cache


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
