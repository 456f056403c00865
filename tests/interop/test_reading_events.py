"""Event files read by `runnel events` and by TensorBoard's two readers: the same runs, tags, plugins, steps, times, values."""
import codecs
import json
import math
import pathlib
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest
from tensorboard import context
from tensorboard.backend.event_processing import plugin_event_multiplexer
from tensorboard.data import provider
from tensorboard.util import tensor_util

from data_server import data_server
from oracle import GOLDEN, tf
from test_command import RUNNEL, runnel
from test_events import write
from test_inspect import log

PLUGINS = ["scalars", "histograms", "images", "audio", "text", "pr_curves", "custom_scalars", "mesh", "hparams", "graphs",
           "graph_tagged_run_metadata"]
codecs.register_error("as_bytes", lambda e: ("".join(map(chr, e.object[e.start:e.end])), e.end))


def ours(folder, reader, *flags):
    """{(run, tag): [(step, time, value)]}, and the plugin of each."""
    done = subprocess.run([RUNNEL, "events", "export", folder, "--as", reader, "--json", *flags], capture_output=True, text=True)
    assert done.returncode == ("is not in the output" in done.stderr), done.stderr
    rows = json.loads(done.stdout)
    points, plugins = {}, {}
    for row in rows:
        key = row.pop("run"), row.pop("tag")
        plugins[key] = row.pop("plugin")
        points.setdefault(key, []).append((row.pop("step"), row.pop("wall_time"), row))
    return points, plugins


def as_json(plugin, tensor):
    """What `export --json` prints of it."""
    if tensor.dtype == object:
        flat = tensor.reshape(-1).tolist()
        if plugin == "images":
            return {"width": int(flat[0]), "height": int(flat[1]), "bytes": [len(b) for b in flat[2:]]}
        if plugin in ("audio", "graphs", "graph_tagged_run_metadata"):
            return {"bytes": [len(b) for b in flat]}
        texts = [b.decode("utf-8", "as_bytes") for b in flat]
        if plugin == "text" and len(texts) == 1:
            return {"value": texts[0]}
        return {"dtype": "string", "shape": list(tensor.shape), "values": texts}
    values = [str(v) if not math.isfinite(v) else v for v in tensor.reshape(-1).tolist()]
    if tensor.shape == ():
        return {"value": values[0]}
    return {"dtype": {"float32": "float", "float64": "double"}.get(tensor.dtype.name, tensor.dtype.name), "shape": list(tensor.shape),
            "values": values}


def number(value):
    return np.float32(value) if isinstance(value, (int, float)) else value


def same_value(a, b):
    if a.keys() != b.keys():
        return False
    lists = {k: v for k, v in a.items() if isinstance(v, list)}
    return (all(list(map(number, v)) == list(map(number, b[k])) for k, v in lists.items())
            and all(number(v) == number(b[k]) for k, v in a.items() if k not in lists))


def theirs_in_python(folder):
    multiplexer = plugin_event_multiplexer.EventMultiplexer(tensor_size_guidance=dict.fromkeys(PLUGINS, 0),
                                                            size_guidance={"tensors": 0})
    multiplexer.AddRunsFromDirectory(str(folder))
    multiplexer.Reload()
    points, plugins = {}, {}
    for run in multiplexer.Runs():
        accumulator = multiplexer.GetAccumulator(run)
        for tag in accumulator.Tags()["tensors"]:
            metadata = accumulator.AllSummaryMetadata().get(tag)
            plugins[run, tag] = metadata.plugin_data.plugin_name if metadata else ""
            points[run, tag] = [(e.step, e.wall_time, as_json(plugins[run, tag], tensor_util.make_ndarray(e.tensor_proto)))
                                for e in accumulator.Tensors(tag)]
    return {k: v for k, v in points.items() if v}, plugins


def check_python(folder, *flags):
    (got, got_plugins), (want, plugins) = ours(folder, "python", *flags), theirs_in_python(folder)
    assert got.keys() == want.keys()
    assert {k: got_plugins[k] for k in got} == {k: plugins[k] for k in want}
    for key in want:
        assert [point[:2] for point in got[key]] == [point[:2] for point in want[key]], key
        for a, b in zip(got[key], want[key]):
            assert same_value(a[2], b[2]), (key, a, b)
    return got


class DataServer:
    """TensorBoard's default reader, a process of its own; unless told it compares checksums of lengths alone."""

    def __init__(self, folder):
        self.ingester = data_server(folder, dict.fromkeys(PLUGINS, 0), "--checksum")

    def steps(self):
        data, ctx, out = self.ingester.data_provider, context.RequestContext(), {}
        everything = dict(experiment_id="", downsample=100000, run_tag_filter=provider.RunTagFilter())
        for plugin in PLUGINS:
            for read in (data.read_scalars, data.read_tensors, data.read_blob_sequences):
                for run, tags in read(ctx, plugin_name=plugin, **everything).items():
                    for tag, values in tags.items():
                        out[run, tag] = [(v.step, v.wall_time, getattr(v, "value", None)) for v in values]
        return {k: v for k, v in out.items() if v}


def check_server(folder):
    points, _ = ours(folder, "server")
    shown = {(run["run"], tag["tag"]) for run in json.loads(runnel("events", "ls", folder, "--json").stdout)["runs"]
             for tag in run["tags"] if tag["shown"]}
    want = {key: [(step, wall, np.float32(row["value"]) if isinstance(row.get("value"), (int, float)) else None) for step, wall, row in values]
            for key, values in points.items() if key in shown}
    server, end = DataServer(folder), time.monotonic() + 20
    got = {}
    while got != want and time.monotonic() < end:  # it reads while it answers
        got = {key: [(step, wall, np.float32(value) if isinstance(value, (int, float)) else None) for step, wall, value in values]
               for key, values in server.steps().items()}
    assert got == want
    return points


def flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 4
    path.write_bytes(data)


def records(path):
    """Where each begins."""
    data, at = path.read_bytes(), 0
    while at < len(data):
        yield at
        at += 16 + int.from_bytes(data[at:at + 8], "little")


@pytest.fixture(scope="module")
def restarts(tmp_path_factory):
    """A run by TensorFlow that went on twice, at 6 and at 3, and one whose log does not say so."""
    folder = tmp_path_factory.mktemp("restarts")
    for run, says in (("told", True), ("silent", False)):
        for part, (first, last) in enumerate([(0, 8), (6, 10), (3, 12)]):
            writer = tf.summary.FileWriter(str(folder / run), filename_suffix=f".{part}")
            if says:
                writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), first)
            for step in range(first, last):
                writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=step + part / 8),
                                                     tf.Summary.Value(tag="other/acc", simple_value=part)]), step)
            writer.close()
    return folder


@pytest.mark.parametrize("check", [check_python, check_server])
def test_the_golden_logs_read_as_tensorboard_reads_them(check):
    points = check(GOLDEN / "events")
    assert len(points) > 30
    assert {run for run, _ in points} == {"v1", "plugins", "v2"}


@pytest.mark.parametrize("check", [check_python, check_server])
def test_restarts_void_what_they_void_in_tensorboard(check, restarts):
    points = check(restarts)
    assert [step for step, _, _ in points["told", "loss"]] == list(range(12))
    assert (check is check_server) == ([step for step, _, _ in points["silent", "loss"]] == list(range(12)))


@pytest.mark.parametrize("check", [check_python, check_server])
def test_logs_of_ours_read_as_tensorboard_reads_them(check, tmp_path):
    write(tmp_path / "kinds", "kinds")
    write(tmp_path / "resume", "resume")
    points = check(tmp_path)
    assert [step for step, _, _ in points["resume", "a"]] == list(range(201))


@pytest.mark.parametrize("check", [check_python, check_server])
def test_an_older_format_is_read_by_its_steps(check, tmp_path):
    event = tf.Event
    with tf.io.TFRecordWriter(str(tmp_path / "a.tfevents")) as writer:
        writer.write(event(wall_time=1, file_version="brain.Event:1").SerializeToString())
        for i, (tag, step) in enumerate([("a", 1), ("a", 5), ("b", 6), ("a", 3), ("b", 4), ("b", 5), ("a", 4)]):
            writer.write(event(wall_time=2 + i, step=step, summary=tf.Summary(
                value=[tf.Summary.Value(tag=tag, simple_value=i)])).SerializeToString())
    check(tmp_path)


@pytest.mark.parametrize("check", [check_python, check_server])
@pytest.mark.parametrize("damage", ["cut", "payload", "length", "zeros", "foreign"])
def test_damaged_logs_end_where_they_end_in_tensorboard(check, damage, restarts, tmp_path):
    shutil.copytree(restarts / "told", tmp_path / "run")
    victim = sorted((tmp_path / "run").iterdir())[1]
    size = victim.stat().st_size
    if damage == "cut":
        victim.write_bytes(victim.read_bytes()[:-20])
    elif damage in ("payload", "length"):
        begins = list(records(victim))
        flip(victim, begins[len(begins) // 2] + (0 if damage == "length" else 25))
    elif damage == "zeros":
        victim.write_bytes(victim.read_bytes()[:size // 2] + bytes(size - size // 2))
    else:
        victim.write_bytes(b"no event file at all, but called like one\n")
    assert check(tmp_path)


def test_export_as_csv_has_the_same_numbers(restarts):
    import csv
    rows = list(csv.DictReader(runnel("events", "export", restarts, "--run", "told", "--tag", "l*").stdout.splitlines()))
    assert [int(row["step"]) for row in rows] == list(range(12))
    assert {row["tag"] for row in rows} == {"loss"}
    assert np.float32(rows[-1]["value"]) == np.float32(11.25)
    assert float(rows[0]["wall_time"]) > 1e9


def test_ls_counts_what_there_is(restarts):
    out = runnel("events", "ls", restarts).stdout
    assert "run told\n" in out and "  loss  scalars  12 values  steps 0 to 11  (21 written)\n" in out
    assert out.endswith("2 runs, 4 tags, 48 values in 6 files\n")
    listed = json.loads(runnel("events", "ls", restarts, "--json", "--as", "all", "--tag", "*/acc").stdout)
    assert [tag["values"] for run in listed["runs"] for tag in run["tags"]] == [21, 21]


def test_skipping_damage_exports_all_but_the_damaged_record(tmp_path):
    write(tmp_path, "resume")
    (whole, _), path = ours(tmp_path, "all"), sorted(tmp_path.iterdir())[1]
    flip(path, path.stat().st_size - 10)
    flip(path, path.stat().st_size // 2)
    done = runnel("events", "export", tmp_path, "--as", "all", "--json", "--skip-damaged")
    assert done.stderr.count("is damaged and was passed over") == 2
    assert len(json.loads(done.stdout)) == sum(map(len, whole.values())) - 2


def test_a_damaged_or_foreign_file_fails_the_export_after_what_there_is(tmp_path):
    write(tmp_path, "resume")
    path = sorted(tmp_path.iterdir())[1]
    flip(path, path.stat().st_size - 10)
    done = runnel("events", "export", tmp_path, status=1)
    assert "and --skip-damaged passes over a damaged record" in done.stderr and "skip_damaged" not in done.stderr
    assert done.stderr.endswith("what follows the damage of 1 file is not in the output\n") and done.stdout.count("\n") > 2
    assert "--skip-damaged passes over" in runnel("events", "ls", tmp_path).stdout
    (tmp_path / "notes").write_text("no event file at all, whatever it is called\n" * 9)
    assert runnel("events", "export", tmp_path / "notes", "--json", status=1).stdout == "[]\n"


@pytest.mark.parametrize("events", [3, 9000])  # it waits for more; it waits for room in the pipe
def test_following_ends_when_nobody_reads_any_more(events, tmp_path):
    log(tmp_path / "a.tfevents", range(events))
    process = subprocess.Popen([RUNNEL, "events", "follow", tmp_path, "--from-start"], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=60) == 0


def test_following_prints_events_as_they_come_and_ends_on_a_signal(tmp_path):
    process = subprocess.Popen([RUNNEL, "events", "follow", tmp_path / "logs", "--json", "--interval", "0.05"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    assert process.stderr.readline() == f"runnel: '{tmp_path}/logs' is not there yet; waiting for it\n"
    write(tmp_path / "logs/run", "killed", -signal.SIGKILL)
    lines = [json.loads(process.stdout.readline()) for _ in range(3)]
    assert lines[0]["event"] == "file version brain.Event:2"
    assert [(line["run"], line["step"], line["tag"], line["value"]) for line in lines[1:]] == [("run", 1, "last", 1), ("run", 2, "last", 2)]
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 0


def test_following_ends_at_a_step_or_a_time(restarts):
    out = runnel("events", "follow", restarts, "--run", "told", "--tag", "loss", "--from-start", "--until-step", "7").stdout
    assert out.splitlines()[0] == "told  step 0  loss  0"
    assert out.endswith("told  step 7  loss  7\n")
    assert runnel("events", "follow", restarts, "--for", "0").stdout == ""


@pytest.mark.parametrize("arguments, status, why", [
    (["ls"], 2, "DIR"), (["ls", "nothere"], 1, "there is no 'nothere'"), (["export", "."], 1, "\"tfevents\" in the name"),
    (["ls", ".", "--as", "x"], 2, "--as"), (["follow", ".", "--for", "-1"], 2, "'-1' does not do: give seconds, 0 or more"),
    (["follow", ".", "--for", "nan"], 2, "'nan'"), (["follow", ".", "--interval", "0"], 2, "give seconds, from 0.01 to 86400"), ([], 2, "subcommand")])
def test_the_status_says_what_happened(arguments, status, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = runnel("events", *arguments, status=status)
    assert why in done.stderr and done.stdout == ""
