"""The example programs on real data, and what they say to bad input."""
import re
import subprocess
import sys

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from oracle import BUILD, ROOT, tf
from test_saver import KINDS, assert_close, train_in_tensorflow, values


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


def test_checkpoints_need_no_graph(tmp_path):
    done = subprocess.run([BUILD / "train/examples/checkpoints"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "global_step int64[]\nlinear/weight float[2]\nstep 1\n"
    reader = tf.train.NewCheckpointReader(str(tmp_path / "checkpoints/model.ckpt-1"))
    np.testing.assert_array_equal(reader.get_tensor("linear/weight"), np.float32([0.1, 0.2]))


def test_logging_needs_no_graph(tmp_path):
    subprocess.run([BUILD / "train/examples/logging"], cwd=tmp_path, check=True)
    events = EventAccumulator(str(tmp_path / "logs"), size_guidance={"scalars": 0, "histograms": 0})
    events.Reload()
    assert [point.step for point in events.Scalars("train/loss")] == list(range(1000))
    assert [point.step for point in events.Histograms("weights")] == list(range(0, 1000, 100))


@pytest.mark.parametrize("kind", KINDS)
def test_training_of_tensorflows_graph_goes_on(tmp_path, kind):
    theirs = train_in_tensorflow(kind, tmp_path / "theirs", 10)
    whole = train_in_tensorflow(kind, tmp_path / "whole", 20)
    assert run("go_on", theirs, "Adam", 10, tmp_path / "ours") == f"saved {tmp_path}/ours\n"
    assert_close(values(tmp_path / "ours"), values(whole))


@pytest.mark.parametrize("arguments, status, why", [
    (["m", "Adam", 0, "out"], 2, "usage"), (["m"], 2, "usage"), (["m", "Adam", 5, "out"], 1, "m.meta")])
def test_going_on_says_what_is_wrong(tmp_path, arguments, status, why):
    error = run("go_on", *arguments, status=status)
    assert why in error and len(error.splitlines()) == 1


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
    "text": ("x,y\n1,2\nabc,3\n", r"bad\.csv:3: column 'x' holds 'abc', which is no number; correct it or drop the row"),
    "two signs": ("x,y\n1,2\n+-1,3\n", r"bad\.csv:3: column 'x' holds '\+-1', which is no number"),
    "too large": ("x,y\n1,1e400\n", r"bad\.csv:2: column 'y' holds '1e400', which is out of float's range"),
    "one name": ("x,y,x\n1,2,3\n", r"bad\.csv:1: two columns are called 'x'; rename one"),
    "quoted comma": ('x,"y, z"\n1,2\n', r"bad\.csv:1: a quoted field holds a quote or a comma"),
    "gap": ("x,y\n1,2\n1,\n", r"bad\.csv:3: column 'y' is empty; fill the gap or drop the row"),
    "nan": ("x,y\nnan,2\n", r"bad\.csv:2: column 'x' holds 'nan'; only finite numbers"),
    "no rows": ("x,y\n", r"bad\.csv has no rows below its header line"),
    "short row": ("x,y\n1\n", r"bad\.csv:2: 1 fields where the header names 2"),
    "no column": ("x,z\n1,2\n", r"bad\.csv has no column 'y'; the columns are: x, z"),
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


@pytest.mark.parametrize("content", [b"\xef\xbb\xbfx,y\n1,2\n3,4\n", b'"x","y"\n"1", "2"\n3,4\n', b"x,y\r1,2\r3,4\r",
                                     b"x,y\r\n1,2\r\n\r\n3,4", b"x,y\n+1,2\n3,4\n"])
def test_tables_of_spreadsheets_are_read(tmp_path, content):
    (tmp_path / "plain.csv").write_text("x,y\n1,2\n3,4\n")
    (tmp_path / "other.csv").write_bytes(content)
    flags = ("--steps", 21, "--learning-rate", 0.01, "--out", tmp_path / "run", "--data")
    assert rounds(run("linear_regression", *flags, tmp_path / "other.csv")) == rounds(run("linear_regression", *flags, tmp_path / "plain.csv"))


@pytest.mark.parametrize("last, wanted", [("11", "bad.csv:4: the label is 11.0"), (None, "bad.csv must have 64 pixel columns")])
def test_bad_digits_are_named_with_their_file(tmp_path, last, wanted):
    header = ",".join([f"p{i}" for i in range(64)] + ["label"])
    rows = [",".join(["0"] * 64 + ["1"])] * 5
    if last is None:
        header = header.replace("label", "class")
    else:
        rows[1] = ",".join(["0"] * 64 + [last])
    (tmp_path / "bad.csv").write_text("\n".join([header, "", *rows]))
    assert wanted in run("digits", "--data", tmp_path / "bad.csv", "--out", tmp_path / "run", status=1)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("blocked", ["run", "run/checkpoint", "run/weight", "run/logs"])
def test_an_output_that_is_a_file_is_refused_before_anything_is_written(tmp_path, blocked):
    (tmp_path / blocked).parent.mkdir(exist_ok=True)
    (tmp_path / blocked).write_text("in the way")
    error = run("linear_regression", "--out", tmp_path / "run", status=1)
    assert f"cannot make directory '{tmp_path}/{blocked}': a file of that name is in the way" in error
    assert len(error.splitlines()) == 1
    assert [p.read_text() for p in tmp_path.rglob("*") if p.is_file()] == ["in the way"]


@pytest.mark.parametrize("program", ["linear_regression", "digits"])
@pytest.mark.parametrize("flag", ["--out", "--data"])
def test_an_empty_path_is_used_wrongly(program, flag):
    assert f"{flag}: the path is empty" in run(program, "--data", "x.csv", flag, "", status=2)


def points(folder):
    """Steps of the loss curve in all event files."""
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    return [point.step for point in events.Scalars("gradient_descent/linear_loss")]


def test_a_killed_run_leaves_no_hole_in_the_curves(tmp_path):
    command = [str(BUILD / "train/examples/linear_regression"), "--out", str(tmp_path / "run"), "--steps", "1000000"]
    killed = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for line in killed.stdout:  # one arrives as soon as its round is over
        if line.startswith("Round 60,"):
            break
    killed.kill()
    killed.wait()
    killed.stdout.close()
    came_to = max(int(p.stem.split("-")[1]) for p in (tmp_path / "run/checkpoint").glob("linear.ckpt-*.index"))
    text = run("linear_regression", "--out", tmp_path / "run", "--steps", came_to + 341, "--resume")
    assert int(re.search(r"at step (\d+)", text).group(1)) > 50
    assert points(tmp_path / "run/logs") == list(range(0, came_to + 341, 2))


def test_resumed_runs_keep_five_checkpoints_of_each_saver(tmp_path):
    for steps, resume in ((31, []), (61, ["--resume"]), (101, ["--resume"])):
        run("linear_regression", "--out", tmp_path / "run", "--steps", steps, *resume)
    kept = sorted(p.name for p in (tmp_path / "run/weight").glob("*.index"))
    assert kept == sorted(f"linear.ckpt-{round}.index" for round in (60, 70, 80, 90, 100))
    assert len(list((tmp_path / "run/checkpoint").glob("*.index"))) == 5


@pytest.mark.parametrize("gone, left", [(["linear.ckpt.index"], "linear.ckpt-100"), (["checkpoint"], "linear.ckpt"),
                                        (["linear.ckpt.index", "linear.ckpt-100.data-00000-of-00001"], "linear.ckpt-90")])
def test_resuming_goes_back_to_the_newest_good_checkpoint(tmp_path, gone, left):
    run("linear_regression", "--out", tmp_path / "run")
    for name in gone:
        (tmp_path / "run/checkpoint" / name).unlink()
    done = subprocess.run([str(BUILD / "train/examples/linear_regression"), "--out", str(tmp_path / "run"), "--resume", "--steps", "120"],
                          capture_output=True, text=True)
    assert done.returncode == 0 and f"Going on from {tmp_path}/run/checkpoint/{left} at step" in done.stdout
    assert "warning" in done.stderr and "leave --resume out" not in done.stderr


def test_a_run_of_which_all_checkpoints_are_damaged_is_not_taken_for_a_fresh_one(tmp_path):
    run("linear_regression", "--out", tmp_path / "run", "--steps", 11)
    for index in (tmp_path / "run/checkpoint").glob("*.index"):
        index.write_text("damaged")
    error = run("linear_regression", "--out", tmp_path / "run", "--resume", status=1)
    assert error.endswith("; begin anew in another --out\n") and "leave --resume out" not in error


def test_a_run_that_diverges_fails_and_keeps_its_last_good_checkpoint(tmp_path):
    error = run("linear_regression", "--out", tmp_path / "run", "--learning-rate", 50, status=1)
    assert re.search(r"the loss is not finite at round \d+: lower --learning-rate", error) and len(error.splitlines()) == 1
    assert not (tmp_path / "run/checkpoint/linear.ckpt.index").exists()


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
