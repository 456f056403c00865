"""`runnel inspect`: a verdict for each state of a log directory, and a command that a shell and TensorBoard understand."""
import json
import pathlib
import shutil
import subprocess

import pytest
from tensorboard import default, program

from oracle import GOLDEN
from test_command import runnel
from test_events import write


def inspect(folder, status=0):
    return json.loads(runnel("inspect", folder, "--json", status=status).stdout)


def summary(tag, step):
    from tensorboard.compat.proto import event_pb2, summary_pb2
    return event_pb2.Event(wall_time=step + 1, step=step, summary=summary_pb2.Summary(
        value=[summary_pb2.Summary.Value(tag=tag, simple_value=1)])).SerializeToString()


def log(path, steps, wall=0):
    from tensorboard.compat.proto import event_pb2
    from tensorboard.summary.writer.record_writer import RecordWriter
    path.parent.mkdir(exist_ok=True, parents=True)
    with open(path, "wb") as file:
        writer = RecordWriter(file)
        writer.write(event_pb2.Event(file_version="brain.Event:2").SerializeToString())
        for step in steps:
            event = event_pb2.Event.FromString(summary("a", step))
            event.wall_time += wall
            writer.write(event.SerializeToString())
    return path


def test_a_log_without_trouble_is_fine(tmp_path):
    write(tmp_path, "resume")
    found = inspect(tmp_path)
    assert (found["verdict"], found["runs"], found["files"], found["findings"]) == ("all fine", 1, 2, [])
    assert runnel("inspect", tmp_path).stdout.endswith(f"verdict: all fine\nshow it: tensorboard --logdir '{tmp_path}'\n")


def test_each_trouble_has_its_verdict(tmp_path):
    for name in ("empty", "foreign", "short", "torn", "flipped", "two", "back"):
        (tmp_path / name).mkdir()
    (tmp_path / "foreign/out.log").write_text("x")
    log(tmp_path / "short/a.tfevents", [])
    torn = log(tmp_path / "torn/a.tfevents", [1, 2])
    torn.write_bytes(torn.read_bytes()[:-3])
    flipped = log(tmp_path / "flipped/a.tfevents", [1, 2])
    data = bytearray(flipped.read_bytes())
    data[-1] ^= 1
    flipped.write_bytes(data)
    log(tmp_path / "two/a.tfevents", range(0, 50))
    log(tmp_path / "two/b.tfevents", range(50, 99), wall=-30)
    log(tmp_path / "back/a.tfevents", range(9))
    log(tmp_path / "back/b.tfevents", range(5, 9), wall=100)
    want = {"empty": "empty directory", "foreign": "no event files", "short": "version record only", "flipped": "damaged record",
            "two": "two writers at once", "back": "steps going backwards"}
    assert {name: inspect(tmp_path / name, 1)["verdict"] for name in want} == want
    assert inspect(tmp_path / "torn")["verdict"] == "truncated tail"


def test_the_place_of_the_trouble_is_named(tmp_path):
    whole = log(tmp_path / "a.tfevents", [1]).stat().st_size
    cut = log(tmp_path / "a.tfevents", [1, 2])
    cut.write_bytes(cut.read_bytes()[:-3])
    (finding,) = inspect(tmp_path)["findings"]
    assert (finding["path"], finding["offset"], finding["run"]) == (str(cut), whole, ".")
    assert f"from byte {whole} on" in finding["message"]
    back = log(tmp_path / "r/a.tfevents", [5, 3])
    (finding,) = [f for f in inspect(tmp_path, 1)["findings"] if f["run"] == "r"]
    assert "tag a has step 3 after step 5 in a.tfevents" in finding["message"] and finding["path"] == str(back)


def test_an_empty_file_a_folder_of_folders_and_damage_are_told_as_they_are(tmp_path):
    (tmp_path / "none").mkdir()
    (tmp_path / "none/a.tfevents").touch()
    assert "its file has no event, not even the version." in inspect(tmp_path / "none", 1)["findings"][0]["message"]
    (tmp_path / "outer/inner").mkdir(parents=True)
    assert inspect(tmp_path / "outer", 1)["findings"][0]["message"].endswith(
        "there is inner/: is it the directory that the writer was given?")
    (tmp_path / "outer/out.log").touch()
    assert "there is inner/, out.log. If a file of these" in inspect(tmp_path / "outer", 1)["findings"][0]["message"]
    damaged = log(tmp_path / "damaged/a.tfevents", [1])
    damaged.write_bytes(damaged.read_bytes() + b"no record, but as long as one")
    assert "skip_damaged" not in inspect(tmp_path / "damaged", 1)["findings"][0]["message"]


def test_what_a_power_cut_left_is_told_from_other_damage(tmp_path):
    path = log(tmp_path / "a.tfevents", [1])
    path.write_bytes(path.read_bytes() + bytes(500))
    assert "zeros only, as a power cut leaves them" in inspect(tmp_path, 1)["findings"][0]["message"]
    path.write_bytes(path.read_bytes() + b"x")
    assert "zeros" not in inspect(tmp_path, 1)["findings"][0]["message"]


def test_one_file_with_two_writers_is_seen(tmp_path):
    one = log(tmp_path / "a.tfevents", [1, 2])
    one.write_bytes(one.read_bytes() * 2)
    found = inspect(tmp_path, 1)
    assert found["verdict"] == "two writers at once"
    assert "2 version records" in found["findings"][0]["message"]


def test_checkpoints_of_the_directory_are_told(tmp_path):
    write(tmp_path, "kinds")
    for path in (GOLDEN / "linear_ref").iterdir():
        shutil.copy(path, tmp_path)
    (found,) = inspect(tmp_path)["checkpoints"]
    assert found == {"directory": str(tmp_path), "newest": f"{tmp_path}/linear.ckpt-100", "tensors": 2, "kept": found["kept"]}
    (tmp_path / "linear.ckpt-100.index").write_bytes(b"x" * 60)
    assert inspect(tmp_path, 1)["verdict"] == "unreadable checkpoint"


@pytest.mark.parametrize("name", ["plain", "with blank", "it's", "-dash", "~home", "$HOME", "a:b", "a,b", "*", "back\\slash", "new\nline",
                                  "tab\t'quote'", "ümlaut", '"double"', "$(true)", "trailing "])
def test_the_command_leads_tensorboard_to_the_directory(name, tmp_path, monkeypatch):
    folder = tmp_path / name
    log(folder / "a.tfevents", [1])
    monkeypatch.chdir(tmp_path)
    command = inspect(f"./{name}")["tensorboard"]
    words = subprocess.run(["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True).stdout.decode().split("\0")[:-1]
    assert words[0] == "tensorboard"
    board = program.TensorBoard(default.get_plugins())
    board.configure(argv=words)
    assert pathlib.Path(board.flags.logdir).samefile(folder)


@pytest.mark.parametrize("arguments, status, why", [
    ([], 2, "DIR"), (["nothere"], 1, "there is no directory 'nothere'"), ([GOLDEN / "ops.txt"], 1, "is a file; give its directory")])
def test_the_status_says_what_happened(arguments, status, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = runnel("inspect", *arguments, status=status)
    assert why in done.stderr and done.stdout == ""
