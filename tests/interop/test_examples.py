"""The example programs on real data, and what they say to bad input."""
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RUNNEL_BUILD", ROOT / "build"))


def run(program, *arguments, status=0):
    done = subprocess.run([str(BUILD / "train/examples" / program), *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == status, done.stderr + done.stdout
    return done.stdout if status == 0 else done.stderr


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    subprocess.run([sys.executable, ROOT / "tests/interop/write_data.py", folder], check=True)
    return folder


def rounds(text):
    return [(int(a), float(w), float(b)) for a, w, b in re.findall(r"Round (\d+), weight: (\S+), bias: (\S+)", text)]


def test_the_readme_example_finds_the_line():
    assert run("readme").strip() == "w = 0.100  b = 0.300"


def test_the_readme_shows_the_program_that_is_built():
    shown = (ROOT / "README.md").read_text().split("```cpp\n")[1].split("```")[0]
    built = (ROOT / "train/examples/readme.cc").read_text().split("\n", 1)[1]
    strip = lambda text: re.sub(r"\s*//[^\n]*", "", text).split()
    assert strip(shown) == strip(built)


def test_the_made_line_is_found_and_every_file_is_there(tmp_path):
    text = run("linear_regression", "--out", tmp_path / "run")
    last = rounds(text)[-1]
    assert last[0] == 100 and abs(last[1] - 0.1) < 0.02 and abs(last[2] - 0.3) < 0.02
    assert f"tensorboard --logdir {tmp_path}/run/logs" in text
    kept = {p.name for p in (tmp_path / "run/checkpoint").iterdir()}
    assert "checkpoint" in kept
    for prefix in ("linear.ckpt-70", "linear.ckpt-80", "linear.ckpt-90", "linear.ckpt-100", "linear.ckpt"):
        assert {f"{prefix}.index", f"{prefix}.meta", f"{prefix}.data-00000-of-00001"} <= kept
    assert "linear.ckpt-60.index" not in kept
    assert "linear.ckpt-60.index" in {p.name for p in (tmp_path / "run/weight").iterdir()}


def test_a_resumed_run_ends_where_a_straight_one_does(tmp_path):
    straight = rounds(run("linear_regression", "--out", tmp_path / "a", "--steps", 61))
    run("linear_regression", "--out", tmp_path / "b", "--steps", 31)
    resumed = rounds(run("linear_regression", "--out", tmp_path / "b", "--steps", 61, "--resume"))
    assert resumed == straight[4:]


def test_the_diabetes_line_is_least_squares(data, tmp_path):
    x, y = np.loadtxt(data / "diabetes.csv", delimiter=",", skiprows=1, unpack=True)
    slope, intercept = np.polyfit(x, y, 1)
    last = rounds(run("linear_regression", "--data", data / "diabetes.csv", "--out", tmp_path / "run", "--learning-rate", 0.1))[-1]
    assert last[1] == pytest.approx(slope, abs=1e-4) and last[2] == pytest.approx(intercept, abs=1e-4)


@pytest.mark.parametrize("optimizer", ["adam", "momentum", "sgd"])
def test_held_out_digits_are_read(data, tmp_path, optimizer):
    text = run("digits", "--data", data / "digits.csv", "--out", tmp_path / "run", "--optimizer", optimizer)
    accuracy = float(re.search(r"test accuracy (\S+) % on 360 held-out", text).group(1))
    assert accuracy >= 97
    assert "\r" not in text and len(text.splitlines()) == 62


BAD = {
    "text": ("x,y\n1,2\nabc,3\n", r"bad\.csv:3: column 'x' holds 'abc', which is no number"),
    "gap": ("x,y\n1,2\n1,\n", r"bad\.csv:3: column 'y' is empty; fill the gap or drop the row"),
    "nan": ("x,y\nnan,2\n", r"bad\.csv:2: column 'x' holds nan; only finite numbers"),
    "no rows": ("x,y\n", r"bad\.csv has no rows below its header line"),
    "short row": ("x,y\n1\n", r"bad\.csv:2: 1 fields where the header names 2"),
    "no column": ("x,z\n1,2\n", r"there is no column 'y'; the columns are: x, z"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_table_is_refused_in_one_sentence(tmp_path, name):
    content, wanted = BAD[name]
    (tmp_path / "bad.csv").write_text(content)
    error = run("linear_regression", "--data", tmp_path / "bad.csv", "--out", tmp_path / "run", status=1)
    assert re.search(wanted, error) and len(error.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_a_missing_table_names_path_and_reason(tmp_path):
    error = run("digits", "--data", tmp_path / "none.csv", status=1)
    assert f"{tmp_path}/none.csv cannot be read: No such file or directory" in error


def test_an_output_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "run").write_text("in the way")
    error = run("linear_regression", "--out", tmp_path / "run", status=1)
    assert str(tmp_path / "run") in error and len(error.splitlines()) == 1
    assert (tmp_path / "run").read_text() == "in the way"


def test_resuming_without_a_checkpoint_says_so(tmp_path):
    error = run("linear_regression", "--out", tmp_path / "run", "--resume", status=1)
    assert "leave --resume out" in error and len(error.splitlines()) == 1


def test_a_learning_rate_that_is_no_number_is_refused(tmp_path):
    error = run("linear_regression", "--out", tmp_path / "run", "--learning-rate", "nan", status=2)
    assert "--learning-rate" in error and not (tmp_path / "run").exists()


@pytest.mark.parametrize("steps", ["0", "-3", "abc"])
def test_a_number_of_steps_that_is_none_is_used_wrongly(tmp_path, steps):
    text = run("linear_regression", "--steps", steps, "--out", tmp_path / "run", status=2)
    assert f"--steps: Value {steps} not in range 1 to 1000000000" in text and not (tmp_path / "run").exists()
