"""The command `runnel` as a user and NumPy see it. RUNNEL_BUILD names the build folder."""
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/golden"
RUNNEL = pathlib.Path(os.environ.get("RUNNEL_BUILD", ROOT / "build")) / "train/cli/runnel"
LINEAR = GOLDEN / "linear_ref/linear.ckpt-100.meta"
TYPES = {"float": "f4", "double": "f8", "half": "f2", "int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8", "uint8": "u1",
         "uint16": "u2", "uint32": "u4", "uint64": "u8", "bool": "?", "complex64": "c8", "complex128": "c16"}


def runnel(*arguments, status=0):
    done = subprocess.run([RUNNEL, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done


def placeholder(folder, dtype):
    model = folder / "p.pbtxt"
    model.write_text(f"node {{ name: 'x' op: 'Placeholder' attr {{ key: 'dtype' value {{ type: DT_{dtype.upper()} }} }} }}\n"
                     f"node {{ name: 'y' op: 'Identity' input: 'x' attr {{ key: 'T' value {{ type: DT_{dtype.upper()} }} }} }}\n")
    return model


@pytest.mark.parametrize("dtype", TYPES)
def test_arrays_of_numpy_go_in_and_come_out(dtype, tmp_path):
    for array in (np.arange(6).reshape(2, 3), np.asfortranarray(np.arange(6).reshape(2, 3)), np.zeros([0, 2]), np.array(1)):
        np.save(tmp_path / "x.npy", array.astype(TYPES[dtype]))
        runnel("run", placeholder(tmp_path, dtype), "--feed", f"x:0={tmp_path}/x.npy", "--fetch", "y:0", "--out", tmp_path)
        out = np.load(tmp_path / "y_0.npy")
        assert out.dtype == np.dtype(TYPES[dtype])
        np.testing.assert_array_equal(out, array.astype(TYPES[dtype]))


def test_strings_and_other_byte_orders(tmp_path):
    for dtype, array in (("string", np.array([b"a", b"", b"bcd"])), ("int32", np.arange(3, dtype=">i4"))):
        np.save(tmp_path / "x.npy", array)
        runnel("run", placeholder(tmp_path, dtype), "--feed", f"x:0={tmp_path}/x.npy", "--fetch", "y:0", "--out", tmp_path)
        np.testing.assert_array_equal(np.load(tmp_path / "y_0.npy"), array)


def test_training_ends_with_tensorflows_bits():
    want = json.loads((GOLDEN / "linear_ref/linear.json").read_text())
    out = runnel("run", LINEAR, "--init", "init", "--target", "GradientDescent", "--steps", 101, "--fetch", "weight/read:0",
                 "--fetch", "biase/read:0", "--json")
    got = [np.float32(fetch["first"][0]) for fetch in json.loads(out.stdout)["fetches"]]
    assert got == [np.float32(float.fromhex(want["final_W"])), np.float32(float.fromhex(want["final_b"]))]


def test_a_batch_goes_on_after_a_failure_and_names_it(tmp_path):
    (tmp_path / "jobs").write_text(f"# comment\n{LINEAR} --init init --fetch Mean:0\nrun nothere.meta\n\n'{LINEAR}' --wrong\n")
    done = runnel("run", "--batch", tmp_path / "jobs", "--json", status=1)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["line"] for line in lines] == [2, 3, 5]
    assert lines[0]["fetches"][0]["dtype"] == "float"
    assert [line["error"]["code"] for line in lines[1:]] == ["NotFound", "Usage"]
    assert f"{tmp_path}/jobs:3: " in done.stderr


@pytest.mark.parametrize("arguments, status, why", [
    ([], 2, "subcommand"), (["frob"], 2, "not expected: frob"), (["checkpoint", "frob"], 2, "not expected: frob"),
    (["run"], 2, "MODEL"), (["run", LINEAR, "--feed", "x"], 2, "TENSOR=FILE"), (["--help"], 0, ""),
    (["run", LINEAR, "--steps", "-1"], 2, "--steps"), (["run", LINEAR, "--fetch", "nothing:0"], 1, "nothing"),
    (["run", "x.txt"], 1, ".meta"), (["graph", "ls", "nothere.pb"], 1, "nothere.pb"), (["ops", "Nothing"], 1, "Nothing"),
    (["graph", "show", LINEAR, "weigh"], 1, "weight"), (["graph", "dot", LINEAR, "--json"], 2, "--json"),
    *((["run", LINEAR, flag, ""], 2, f"{flag}: must not be empty") for flag in ("--save", "--out", "--restore", "--init", "--trace")),
    (["run", LINEAR, "--init", "init", "--save", f"{LINEAR}/m"], 1, "a file of that name is in the way"),
    (["run", LINEAR, "--init", "init", "--out", "/proc/none"], 1, "'/proc' takes no new directories"),
    (["run", LINEAR, "--fetch", "Mean:0"], 1, "uninitialized value"),
    (["run", LINEAR, "--init", "init", "--trace", "t.json"], 2, "--trace: no step runs"),
    (["run", LINEAR, "--init", "init", "--fetch", "Mean:0", "--trace", "/proc/none/t.json"], 1, "'/proc' takes no new directories"),
    (["run", LINEAR, "--init", "init", "--fetch", "Mean:0", "--trace", GOLDEN], 1, "is a folder"),
])
def test_the_status_says_what_happened(arguments, status, why):
    done = runnel(*arguments, status=status)
    assert why in done.stderr
    assert (done.stdout == "") == (status != 0)


def test_a_trace_holds_every_kernel_of_the_last_step_once(tmp_path):
    nodes = {node["name"]: node["op"] for node in json.loads(runnel("graph", "ls", LINEAR, "--json").stdout)}
    update = "GradientDescent/update_weight/ApplyGradientDescent"
    for arguments, there in ((["--target", "GradientDescent", "--steps", 2, "--fetch", "Mean:0"], True),
                             (["--target", "GradientDescent", "--steps", 0, "--fetch", "Mean:0"], False)):
        path = tmp_path / "new" / "t.json"
        runnel("run", LINEAR, "--init", "init", *arguments, "--trace", path)
        kernels = [event for event in json.loads(path.read_text())["traceEvents"] if event.get("cat") == "Op"]
        names = [event["args"]["name"] for event in kernels]
        assert len(names) == len(set(names)) > 3
        assert (update in names, "Mean" in names) == (there, not there)
        assert all(event["name"] == nodes[event["args"]["name"]] for event in kernels)
        assert all(event["dur"] >= 0 and event["ts"] >= 0 for event in kernels)


def test_graphs_and_ops_are_listed_as_text_and_json():
    nodes = json.loads(runnel("graph", "ls", LINEAR, "--json").stdout)
    assert len(nodes) == len(runnel("graph", "ls", LINEAR).stdout.splitlines()) == 74
    shown = json.loads(runnel("graph", "show", LINEAR, "weight/Assign", "--json").stdout)
    assert shown["inputs"] == ["weight:0", "random_uniform:0"]
    assert runnel("graph", "dot", LINEAR).stdout.startswith("digraph")
    ops = {op["name"]: op for op in json.loads(runnel("ops", "--json").stdout)}
    assert ops["MatMul"]["gradient"] == "yes"
    assert "gradient  yes" in runnel("ops", "MatMul").stdout
