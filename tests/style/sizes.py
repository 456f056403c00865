"""Fails on a source file over 400 lines that tests/style/long_files.txt does not excuse with a reason."""
import pathlib
import sys

LONGEST = 400


def main(root):
    excused = {}
    for line in (root / "tests/style/long_files.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, reason = line.split(None, 1)
            excused[name] = reason
    wrong = []
    for path in sorted(root.rglob("*")):
        local = path.relative_to(root)
        if path.suffix not in (".h", ".cc", ".py") or local.parts[0].startswith(("build", ".")):
            continue
        lines = len(path.read_text(errors="replace").splitlines())
        if lines > LONGEST and str(local) not in excused:
            wrong.append(f"{local}: {lines} lines; split it, or say why in tests/style/long_files.txt")
    print("\n".join(wrong) or f"no file is over {LONGEST} lines without a reason")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
