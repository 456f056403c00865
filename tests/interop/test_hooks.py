"""Hooks against TensorFlow's own: the same model, the same hooks, and a clock that moves a quarter of a second after each
run on both sides. Compared: files, checkpoints' values, events with their tags and steps, log lines with their times. The
program is run_hooks.cc; what differs on purpose is in train/monitored/README.md.
"""
import logging
import re
import subprocess
import types

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from oracle import BUILD, tf
from tensorflow.python.training import basic_session_run_hooks as theirs
from tensorflow.python.training import training_util

RUNS = {
    "steps": ["steps=7", "ckpt_steps=3", "sum_steps=2", "count_steps=2", "log_iter=2", "prof_steps=3", "final=1"],
    "resource variables": ["steps=7", "ckpt_steps=3", "sum_steps=2", "count_steps=2", "log_iter=3", "resource=1"],
    "seconds": ["steps=11", "ckpt_secs=0.75", "sum_secs=0.5", "count_secs=1", "log_secs=0.6", "prof_secs=1"],
    "uneven seconds": ["steps=9", "ckpt_secs=0.6", "sum_secs=0.3", "count_secs=0.1", "log_secs=0.25"],
    "every step": ["steps=4", "ckpt_steps=1", "sum_steps=1", "count_steps=1", "log_iter=1", "prof_steps=1"],
    "period longer than training": ["steps=4", "ckpt_steps=100", "sum_steps=100", "count_steps=100", "log_iter=100"],
    "last step": ["steps=100", "last=5", "ckpt_steps=2", "sum_steps=3"],
    "number of steps": ["steps=100", "num=4", "ckpt_steps=3", "final=1"],
    "at the end": ["steps=3", "log_end=1"],
    "log at intervals and at the end": ["steps=5", "log_iter=2", "log_end=1"],
    "no graph": ["steps=3", "ckpt_steps=2", "no_graph=1"],
    "nothing to wait for": ["steps=2", "wait=0", "log_iter=1"],
    "NaN fails": ["steps=9", "nan_at=3", "ckpt_steps=2", "log_iter=1"],
    "NaN stops": ["steps=9", "nan_at=3", "nan_stops=1", "ckpt_steps=2", "sum_steps=1"],
}
GO_ON = {
    "goes on": ["steps=4", "ckpt_steps=3", "sum_steps=2", "count_steps=2", "log_iter=2"],
    "goes on for so many": ["steps=100", "num=3", "ckpt_steps=2", "sum_steps=2"],
    "goes on to a step": ["steps=100", "last=12", "ckpt_steps=2"],
    "has waited": ["steps=2", "wait=5", "ckpt_steps=2"],
}
REFUSED = [["last=1", "num=1"], ["count_steps=1", "count_secs=1"], ["log_iter=1", "log_secs=1"], ["log_iter=0"]]
COMBINED = [["ckpt_steps=1", "ckpt_secs=1"], ["sum_steps=1", "sum_secs=1"], ["prof_steps=1", "prof_secs=1"]]
STATED = re.compile(r"^(loss = .*|w/read:0 = .*|.*/sec: .*|Saving checkpoints for .*|Saving timeline for .*|Waiting for .*|Model diverged.*)$")


class Listener(tf.train.CheckpointSaverListener):
    """Says what it hears, and asks for the end at step 8."""

    def __init__(self, lines):
        self.lines = lines

    def begin(self):
        self.lines.append("listener begin")

    def before_save(self, session, step):
        self.lines.append(f"listener before_save {step}")

    def after_save(self, session, step):
        self.lines.append(f"listener after_save {step}")
        return step >= 8

    def end(self, session, step):
        self.lines.append(f"listener end {step}")


class Clock:
    """In place of the module `time` in TensorFlow's hooks."""

    def __init__(self):
        self.now = 1.7e9

    def time(self):
        return self.now


def run_theirs(directory, words, monkeypatch):
    words = {key: float(value) for key, value in (word.split("=") for word in words)}
    get = words.get
    steps = lambda key: int(words[key]) if key in words else None
    clock = Clock()
    monkeypatch.setattr(theirs, "time", clock)
    lines = []
    handler = types.SimpleNamespace(level=0, handle=lambda record: lines.append(record.getMessage()))
    logger = logging.getLogger("tensorflow")
    monkeypatch.setattr(logger, "handlers", [handler])
    monkeypatch.setattr(logger, "level", logging.INFO)
    logger.manager._clear_cache()
    with tf.Graph().as_default():
        resource = "resource" in words
        w = tf.get_variable("w", initializer=1.0, use_resource=resource)
        step = tf.get_variable("global_step", initializer=np.int64(0), trainable=False, use_resource=resource,
                               collections=["variables", "global_step"])
        offset = tf.placeholder(tf.float32, [], "offset")
        loss = tf.square(w - 3.0) + offset
        # What TensorFlow leaves to chance is put in order: it reads the step, and a resource variable, before the update.
        read = training_util._get_or_create_global_step_read()
        shown = w.read_value() if resource else w.value()
        with tf.control_dependencies([read, shown] if resource else [read]):
            train = tf.train.GradientDescentOptimizer(0.25).minimize(loss, global_step=step)
        tf.summary.scalar("loss", loss)
        runs = iter(range(1, 1000))
        hooks = [tf.train.FeedFnHook(lambda: {offset: np.nan if next(runs) == get("nan_at") else 0.0})]
        scaffold = tf.train.Scaffold()
        if "last" in words or "num" in words:
            hooks.append(tf.train.StopAtStepHook(steps("num"), steps("last")))
        if "count_steps" in words or "count_secs" in words:
            hooks.append(tf.train.StepCounterHook(steps("count_steps"), get("count_secs"), directory))
        if "sum_steps" in words or "sum_secs" in words:
            hooks.append(tf.train.SummarySaverHook(steps("sum_steps"), get("sum_secs"), directory, scaffold=scaffold))
        if "ckpt_steps" in words or "ckpt_secs" in words:
            hooks.append(tf.train.CheckpointSaverHook(directory, get("ckpt_secs"), steps("ckpt_steps"), scaffold=scaffold,
                                                      listeners=[Listener(lines)], save_graph_def="no_graph" not in words))
        if "log_iter" in words or "log_secs" in words:
            hooks.append(tf.train.LoggingTensorHook({"w": shown, "loss": loss}, steps("log_iter"), get("log_secs")))
        if "log_end" in words:
            hooks.append(tf.train.LoggingTensorHook(["w/read:0", "global_step"], at_end=True))
        if "prof_steps" in words or "prof_secs" in words:
            hooks.append(tf.train.ProfilerHook(steps("prof_steps"), get("prof_secs"), directory))
        if "nan_at" in words:
            hooks.append(tf.train.NanTensorHook(loss, "nan_stops" not in words))
        if "wait" in words:
            hooks.append(tf.train.GlobalStepWaiterHook(steps("wait")))
        final = tf.train.FinalOpsHook([w, step])
        if "final" in words:
            hooks.append(final)
        config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        creator = tf.train.ChiefSessionCreator(scaffold, config=config, checkpoint_dir=directory)
        try:
            with tf.train.MonitoredSession(creator, hooks) as session:
                for _ in range(steps("steps")):
                    if session.should_stop():
                        break
                    session.run(train)
                    clock.now += 0.25
        except tf.train.NanLossDuringTrainingError:
            lines.append("ended by NanLossDuringTrainingError")
        if "final" in words:
            lines.append("final: %.9g %d" % tuple(final.final_ops_values))
    tf.summary.FileWriterCache.clear()
    return lines


def run_ours(directory, words):
    done = subprocess.run([str(BUILD / "tests/interop/run_hooks"), str(directory), *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def stated(lines, directory):
    """Lines whose form is stated, with the seconds rounded as both print them."""
    return [line.replace(str(directory), "DIR") for line in lines
            if STATED.match(line) or line.startswith(("listener", "final:", "ended by"))]


def files(directory):
    """Names; a save over a checkpoint that is there goes to a data file of another number, see train/checkpoint/README.md."""
    return sorted(path.name.replace("-of-00002", "-of-00001") for path in directory.iterdir() if "tfevents" not in path.name)


def newest_events(directory):
    """Of the last run: TensorFlow's second file within a second takes the place of its first."""
    return list(tf.train.summary_iterator(str(sorted(directory.glob("*tfevents*"))[-1])))


def events(directory):
    """What each event of the run says, in their order, but for START and graphs, whose order differs on purpose."""
    said = []
    for event in newest_events(directory):
        kind = event.WhichOneof("what")
        if kind == "summary":
            said += [(value.tag, event.step, str(value.simple_value)) for value in event.summary.value]
        elif kind == "session_log" and event.session_log.status == 3:
            assert event.session_log.checkpoint_path == str(directory / "model.ckpt")
            said.append(("CHECKPOINT", event.step))
        elif kind == "tagged_run_metadata":
            said.append((event.tagged_run_metadata.tag,))
    return said


def starts(directory):
    return {event.step for event in newest_events(directory) if event.session_log.status == 1}


def compare(ours, other, words, monkeypatch):
    lines = run_theirs(str(other), words, monkeypatch)
    assert stated(run_ours(ours, words), ours) == stated(lines, other)
    assert files(ours) == files(other)
    if list(other.glob("*tfevents*")):
        assert events(ours) == events(other)
    if any(word.startswith("sum_") for word in words):
        assert starts(ours) == starts(other)
    for path in other.glob("model.ckpt-*.index"):
        mine, others = (tf.train.load_checkpoint(str(folder / path.stem)) for folder in (ours, other))
        for name in others.get_variable_to_shape_map():
            assert mine.get_tensor(name) == others.get_tensor(name), (path.stem, name)


@pytest.mark.parametrize("name", RUNS)
def test_hooks_write_and_say_what_tensorflows_do(name, tmp_path, monkeypatch):
    ours, other = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    other.mkdir()
    compare(ours, other, RUNS[name], monkeypatch)


@pytest.mark.parametrize("name", GO_ON)
def test_training_that_goes_on_writes_and_says_what_tensorflows_does(name, tmp_path, monkeypatch):
    ours, other = tmp_path / "ours", tmp_path / "theirs"
    for words in (["steps=5", "ckpt_steps=2", "sum_steps=2"], GO_ON[name]):
        for directory in (ours, other):
            directory.mkdir(exist_ok=True)
        compare(ours, other, words, monkeypatch)


def test_a_run_that_goes_on_voids_what_came_after_its_checkpoint_and_keeps_the_graph(tmp_path):
    run_ours(tmp_path, ["steps=4", "ckpt_steps=3", "sum_steps=1", "count_steps=1"])
    for path in tmp_path.glob("model.ckpt-4*"):  # the last save is lost
        path.unlink()
    run_ours(tmp_path, ["steps=2", "ckpt_steps=3", "sum_steps=1", "count_steps=1"])
    seen = EventAccumulator(str(tmp_path))
    seen.Reload()
    assert [event.step for event in seen.Scalars("loss")] == [1, 2, 3, 4, 5]
    assert [event.step for event in seen.Scalars("global_step/sec")] == [2, 3, 5]
    assert any(node.name == "GradientDescent" for node in seen.Graph().node)


@pytest.mark.parametrize("words", REFUSED + COMBINED, ids="-".join)
def test_arguments_that_tensorflow_refuses_are_refused_but_for_two_periods(words, tmp_path, monkeypatch):
    with pytest.raises(ValueError):
        run_theirs(str(tmp_path), ["steps=1", *words], monkeypatch)
    refused = any(line.startswith("ended by InvalidArgument") for line in run_ours(tmp_path, ["steps=1", *words]))
    assert refused == (words in REFUSED)
