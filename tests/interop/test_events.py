"""Event files of Runnel, read by TensorBoard's own readers and by TensorFlow's. RUNNEL_BUILD names the build folder."""
import collections
import os
import pathlib
import signal
import subprocess
import time

import pytest
from tensorboard.backend.event_processing import event_accumulator, event_file_inspector, plugin_event_multiplexer
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import PyRecordReader_New
from tensorboard.compat.proto import event_pb2
from tensorboard import context
from tensorboard.data import provider
from tensorboard.util import tensor_util

from data_server import data_server

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("RUNNEL_BUILD", ROOT / "build")) / "tests/interop/write_events"
SIZES = {event_accumulator.SCALARS: 0}


def write(folder, kind, status=0):
    assert subprocess.run([PROGRAM, folder, kind]).returncode == status


def load(folder):
    """The run as TensorBoard's pages see it."""
    multiplexer = plugin_event_multiplexer.EventMultiplexer(tensor_size_guidance={"scalars": 0, "histograms": 0, "text": 0})
    multiplexer.AddRunsFromDirectory(str(folder))
    multiplexer.Reload()
    return multiplexer.GetAccumulator(".")


def events(path):
    reader = PyRecordReader_New(str(path))
    while True:
        try:
            reader.GetNext()
        except Exception:  # the end of the file, whatever this version calls it
            return
        yield event_pb2.Event.FromString(reader.record())


def scalars(run, tag):
    return [(event.step, float(tensor_util.make_ndarray(event.tensor_proto))) for event in run.Tensors(tag)]


def test_every_kind_is_shown_by_its_plugin(tmp_path):
    write(tmp_path, "kinds")
    run = load(tmp_path)
    assert scalars(run, "train/loss") == [(0, 1.0), (1, 0.5), (2, pytest.approx(1 / 3))]
    assert run.PluginTagToContent("scalars").keys() == {"train/loss"}
    assert run.PluginTagToContent("histograms").keys() == {"weights"}
    assert [e.tensor_proto.string_val[0] for e in run.Tensors("words")] == [b"step 0", b"step 1", b"step 2"]
    assert [node.name for node in run.Graph().node] == ["x", "data", "loss/tags", "loss"]
    counts = tensor_util.make_ndarray(run.Tensors("weights")[2].tensor_proto)
    assert counts[:, 2].sum() == 150
    assert counts[0, 0] == pytest.approx(-2.0) and counts[-1, 1] == pytest.approx(4.9)


def test_the_first_record_and_the_order_of_what_follows(tmp_path):
    write(tmp_path, "kinds")
    (path,) = tmp_path.iterdir()
    assert path.read_bytes()[:12].hex() == "1800000000000000a37f4b22"
    first = list(events(path))[:5]
    assert first[0].file_version == "brain.Event:2"
    assert first[0].wall_time == int(first[0].wall_time)
    assert [e.WhichOneof("what") for e in first[1:]] == ["session_log", "session_log", "graph_def", "meta_graph_def"]


def test_inspecting_counts_what_was_written(tmp_path):
    write(tmp_path, "kinds")
    (path,) = tmp_path.iterdir()
    fields = event_file_inspector.get_field_to_observations_map(event_file_inspector.generator_from_event_file(str(path)))
    assert len(fields["scalars"]) == 3
    assert len(fields["histograms"]) == 3
    assert len(fields["graph"]) == 1
    assert len(fields["sessionlog:checkpoint"]) == 1


def test_a_resumed_run_has_every_step_once_and_its_graph(tmp_path):
    write(tmp_path, "resume")
    run = load(tmp_path)
    for tag, sign in (("a", 1), ("b", -1)):
        assert scalars(run, tag) == [(step, sign * step) for step in range(201)]
    assert len(run.Graph().node) == 4
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 100_000  # without the graph's large constant


def test_the_older_reader_sees_a_resumed_run_alike(tmp_path):
    write(tmp_path, "resume")
    run = event_accumulator.EventAccumulator(str(tmp_path), size_guidance=SIZES).Reload()
    assert sorted(event.step for event in run.Scalars("a")) == list(range(201))


class FastReader:
    """TensorBoard's data server, which knows no START: a step drops the later points of its tag."""

    def __init__(self, folder):
        self.ingester = data_server(folder, {"scalars": 0})

    def scalars(self, tag):
        read = self.ingester.data_provider.read_scalars(
            context.RequestContext(), experiment_id="", plugin_name="scalars", downsample=100000,
            run_tag_filter=provider.RunTagFilter())
        return [(point.step, point.value) for run in read.values() for point in run.get(tag, [])]


@pytest.mark.parametrize("kind, late", [("resume", 101), ("late", 140)])
def test_both_readers_see_each_step_of_a_resumed_run_once(tmp_path, kind, late):
    write(tmp_path, kind)
    run, fast = load(tmp_path), FastReader(tmp_path)
    for tag, sign in (("a", 1), ("b", -1)):
        want = [(step, sign * step) for step in range(201)]
        end = time.monotonic() + 30
        while fast.scalars(tag) != want and time.monotonic() < end:  # it reads while it answers
            pass
        assert fast.scalars(tag) == want
        # What a run that went on did not log again is void, for the reader that knows where it went on.
        assert scalars(run, tag) == [point for point in want if tag == "a" or not 101 <= point[0] < late]


def test_a_crowd_of_processes_with_a_crowd_of_writers_loses_nothing(tmp_path):
    processes = [subprocess.Popen([PROGRAM, tmp_path, "crowd"]) for _ in range(32)]
    assert [process.wait() for process in processes] == [0] * 32
    files = list(tmp_path.iterdir())
    assert len(files) == 32 * 8
    for path in files:
        assert [e.step for e in events(path) if e.HasField("summary")] == list(range(100))


def test_five_thousand_writers_leave_nothing_open(tmp_path):
    write(tmp_path, "cycles")
    assert sum(1 for _ in tmp_path.glob("*/*tfevents*")) == 5100


def test_no_writer_takes_the_file_of_another(tmp_path):
    processes = [subprocess.Popen([PROGRAM, tmp_path, "writers"]) for _ in range(8)]
    assert [process.wait() for process in processes] == [0] * 8
    files = list(tmp_path.iterdir())
    assert len(files) == 8 * 50
    steps = collections.Counter(e.step for f in files for e in events(f) if e.HasField("summary"))
    assert steps == {step: 8 for step in range(50)}


def test_what_was_flushed_outlives_a_kill(tmp_path):
    write(tmp_path, "killed", -signal.SIGKILL)
    assert scalars(load(tmp_path), "last") == [(1, 1.0), (2, 2.0)]
