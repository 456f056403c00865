"""Installs the doors and every header that they include, under include/runnel/.

In the sources our headers include each other from the root ("graph/tensor.h"). A user's program may have a graph/ of its
own, so the installed copies say <runnel/graph/tensor.h>. usage: install_headers.py SOURCE_ROOT INCLUDE_FOLDER
"""
import os
import pathlib
import re
import sys

DOORS = {"graph": "graph/graph.h", "ops": "ops/ops.h", "summary": "summary/summary.h", "train": "train/train.h"}
INCLUDE = re.compile(r'#include "((?:graph|ops|summary|train)/[^"]+)"')


def reached(root):
    """Every header that a door includes, directly or through others."""
    todo, seen = list(DOORS.values()), set()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += INCLUDE.findall((root / name).read_text())
    return sorted(seen)


def main(root, target):
    if os.environ.get("DESTDIR"):
        target = pathlib.Path(os.environ["DESTDIR"] + str(target))
    for name in reached(root):
        to = target / "runnel" / name
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(INCLUDE.sub(r"#include <runnel/\1>", (root / name).read_text()))
    for door, name in DOORS.items():
        (target / "runnel" / f"{door}.h").write_text(f"#pragma once\n#include <runnel/{name}>\n")
    every = "".join(f"#include <runnel/{name}>\n" for name in DOORS.values())
    (target / "runnel" / "runnel.h").write_text("#pragma once\n" + every)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
