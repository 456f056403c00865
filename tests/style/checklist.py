"""Fails if the checklist in train/README.md lacks a line, or names a test that is not there.

A row is `| S0-01 | what | done: `test`, `test` |`, where a test is the name of a doctest case, a pytest function or a test
of Meson's, or it says why there is none: "needs a cluster, not there yet" or "not part of the system".
"""
import pathlib
import re
import sys

LINES = {"S0": 40, "S1": 38, "S3": 41, "S4": 47}
STRING = r'"(?:[^"\\]|\\.)*"'
UNDONE = ("needs a cluster, not there yet", "not part of the system")


def tests_of(root):
    names = set()
    for path in (root / "tests").rglob("*"):
        if path.suffix == ".cc":
            for literal in re.findall(rf"TEST_CASE\(\s*((?:{STRING}\s*)+)", path.read_text()):
                names.add("".join(part[1:-1] for part in re.findall(STRING, literal)))
        elif path.suffix == ".py":
            names.update(re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE))
        elif path.name == "meson.build":
            names.update(re.findall(r"^test\('([^']+)'", path.read_text(), re.MULTILINE))
    return names


def faults(root):
    tests = tests_of(root)
    rows = re.findall(r"^\| (S\d-\d\d) \| [^|]+ \| ([^|]+) \|$", (root / "train/README.md").read_text(), re.MULTILINE)
    wanted = [f"{seed}-{i:02}" for seed, count in LINES.items() for i in range(1, count + 1)]
    for line in wanted:
        if (times := [number for number, _ in rows].count(line)) != 1:
            yield f"{line} has {times} rows"
    for number, state in rows:
        named = re.findall(r"`([^`]+)`", state)
        if number not in wanted:
            yield f"{number} is no line of the checklist"
        if state.startswith("done: "):
            yield from (f"{number}: there is no test '{name}'" for name in named if name not in tests)
            if not named:
                yield f"{number} is done, but names no test"
        elif not state.startswith(UNDONE):
            yield f"{number} is '{state}': say done and by which test, or why not"


def main(root):
    wrong = list(faults(root))
    print("\n".join(wrong) or "every line of the checklist has its test, or says why not")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
