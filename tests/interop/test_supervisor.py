"""Supervisor beside TensorFlow's: the same words make the same run on both sides (ours is supervise.cc). Compared: what the
block sees, which error leaves it, files, checkpoints and their values, events with tags, steps and order.

What differs on purpose is in train/supervisor/README.md, and is what `as_ours` does to TensorFlow's.
"""
import os
import re
import subprocess
import time

import pytest

from oracle import BUILD, tf
from tensorflow.python.training.supervisor import Supervisor

SCENES = {
    "defaults": "names",
    "no summary op": "no_summary_op names",
    "no summary period": "sum_secs=0",
    "no model period": "model_secs=0",
    "no saver": "no_saver names",
    "no global step": "no_global_step",
    "no writer": "no_writer names",
    "no logdir": "no_logdir names",
    "no services": "no_services",
    "another name": "basename=mine names",
    "init function": "init_fn",
    "init function alone": "init_fn no_init_op no_ready_op no_saver no_global_step no_summary_op no_local_init_op steps=0",
    "not ready": "no_init_op",
    "nothing initialises": "no_init_op no_local_init_op",
    "local variables left out": "no_local_init_op",
    "local variables left out, unchecked": "no_local_init_op no_ready_op",
    "by hand": "no_summary_op by_hand",
    "stops": "stops",
    "input ends": "fails=OutOfRange",
    "aborted": "fails=Aborted",
    "an error": "fails=Internal",
    "one supervisor, two runs": "runs=2 steps=0",
}
AGAIN = {
    "goes on": "",
    "goes on without init function": "init_fn",
    "goes on without services": "no_services",
    "goes on and fails": "fails=Internal",
}
UNSAVED_ERRORS = ("fails=Aborted", "fails=Internal")


def model():
    class Model:
        pass

    m = Model()
    m.step = tf.train.get_or_create_global_step()
    m.w = tf.Variable(0.0, name="w")
    m.seen = tf.Variable(m.w * 2.0, name="seen", trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    m.train = tf.group(tf.assign_add(m.w, 0.5), tf.assign_add(m.step, 1), name="train")
    m.five = tf.assign(m.w, 5.0)
    m.scalar = tf.summary.scalar("loss", m.w * 2.0)
    return m


def options_of(words, m, logdir):
    o = dict(
        logdir=None if "no_logdir" in words else str(logdir),
        save_summaries_secs=int(words.get("sum_secs", 120)),
        save_model_secs=int(words.get("model_secs", 600)),
        checkpoint_basename=words.get("basename", "model.ckpt"),
    )
    for word, name in (("summary_op",) * 2, ("saver",) * 2, ("global_step",) * 2, ("writer", "summary_writer"), ("init_op",) * 2,
                       ("local_init_op",) * 2, ("ready_op",) * 2):
        if "no_" + word in words:
            o[name] = None
    if "init_fn" in words:
        o["init_fn"] = lambda session: session.run(m.five)
    return o


def name_of(op):
    return "none" if op is None else getattr(op, "op", op).name


def watch(writer, written):
    """Notes each tag and session log that is added."""
    for method in ("add_summary", "add_session_log"):
        def add(*args, to=getattr(writer, method), method=method):
            to(*args)
            written.append(method if method != "add_summary" else str(args[0]))
        setattr(writer, method, add)


def wait_for(condition):
    while not condition():
        time.sleep(0.001)


def run(words, m, sv, lines, written):
    services = "no_services" not in words
    with sv.managed_session(start_standard_services=services) as session:
        start, w = session.run([m.step, m.w])
        lines.append(f"start {start} w {w:g}")
        if "no_local_init_op" not in words:
            lines.append(f"seen {session.run(m.seen):g}")
        if services and "no_logdir" not in words:
            if sv.summary_writer and sv.save_summaries_secs:
                if sv.summary_op is not None:
                    wait_for(lambda: any("loss" in one for one in written))
                if sv.global_step is not None:
                    wait_for(lambda: any("global_step/sec" in one for one in written))
            if sv.saver and sv.save_model_secs:
                name = sv.save_path if sv.global_step is None else f"{sv.save_path}-{start}"
                wait_for(lambda: tf.train.latest_checkpoint(os.path.dirname(sv.save_path)) == name)
                if sv.summary_writer and sv.global_step is not None:
                    wait_for(lambda: written.count("add_session_log") >= 2)  # START, CHECKPOINT
        for _ in range(int(words.get("steps", 3))):
            session.run(m.train)
        if "by_hand" in words:
            sv.summary_computed(session, session.run(m.scalar))
            sv.summary_computed(session, session.run(m.scalar), 77)
        if "stops" in words:
            sv.request_stop()
        step, w = session.run([m.step, m.w])
        lines.append(f"end {step} w {w:g} stop {int(sv.should_stop())}")
        if "fails" in words:
            raise getattr(tf.errors, words["fails"] + "Error")(None, None, "mine")


def theirs(logdir, text):
    words = dict(word.partition("=")[::2] for word in text.split())
    lines = []
    with tf.Graph().as_default():
        m = model()
        try:
            sv = Supervisor(**options_of(words, m, logdir))
            if "names" in words:
                path = os.path.basename(sv.save_path) if sv.save_path else "none"
                lines += [f"init_op {name_of(sv.init_op)}", f"local_init_op {name_of(sv._local_init_op)}",
                          f"summary_op {name_of(sv.summary_op)}", f"ready_op {int(sv.ready_op is not None)}",
                          f"saver {int(sv.saver is not None)}", f"writer {int(sv.summary_writer is not None)}", f"path {path}"]
            for i in range(int(words.get("runs", 1))):
                written = []
                if sv.summary_writer and i == 0:
                    watch(sv.summary_writer, written)
                    sv.seen = written
                if sv.summary_writer:
                    del sv.seen[:]
                    if i > 0:
                        time.sleep(1.1)  # or its event file replaces that of the run before
                    written = sv.seen
                run(words, m, sv, lines, written)
                lines.append(f"ended stop {int(sv.should_stop())}")
        except (RuntimeError, tf.errors.OpError) as error:
            lines.append("error " + type(error).__name__.removesuffix("Error"))
    return lines


def ours(logdir, text):
    done = subprocess.run([BUILD / "tests/interop/supervise", logdir, *text.split()], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def events_of(logdir):
    """A list for each file: "START 0", "graph", "loss 0", ..."""
    files = []
    for path in sorted(logdir.glob("*tfevents*")) if logdir.exists() else []:
        events = []
        for event in tf.train.summary_iterator(str(path)):
            kind = event.WhichOneof("what")
            if kind == "session_log":
                status = {1: "START", 2: "STOP", 3: "CHECKPOINT"}[event.session_log.status]
                events.append(f"{status} {event.step} {os.path.basename(event.session_log.checkpoint_path)}".strip())
            elif kind == "summary":
                events += [f"{value.tag} {event.step}" for value in event.summary.value]
            else:
                events.append(kind)
        files.append(events)
    return files


def checkpoints_of(logdir):
    """The values of every checkpoint, and what the state file names."""
    out = {}
    for index in sorted(logdir.glob("*.index")) if logdir.exists() else []:
        prefix = str(index)[: -len(".index")]
        reader = tf.train.load_checkpoint(prefix)
        out[os.path.basename(prefix)] = {name: float(reader.get_tensor(name)) for name in reader.get_variable_to_shape_map()}
    if state := tf.train.get_checkpoint_state(str(logdir)):
        out["newest"] = os.path.basename(state.model_checkpoint_path)
        out["all"] = [os.path.basename(path) for path in state.all_model_checkpoint_paths]
    return out


def files_of(logdir):
    """All but events, and the checkpoints, which are compared by their values."""
    names = os.listdir(logdir) if logdir.exists() else []
    return sorted(name for name in names if "tfevents" not in name and not re.search(r"\.(index|meta|data-.*)$", name))


def is_saved_at_the_end(text):
    words = text.split()
    return not any(word in words for word in ("no_saver", "no_logdir", "model_secs=0", "no_services", *UNSAVED_ERRORS))


def as_ours(files, steps, text, base, goes_on):
    """TensorFlow's events as the rows of the README's table say that ours are. `steps`: the first and last of each run."""
    out = []
    for number, events in enumerate(files):
        events = [event for event in events if not event.startswith("global_step/sec")]
        starts = [event for event in events if event.startswith("START")]
        graphs = [event for event in events if event in ("graph_def", "meta_graph_def")]
        rest = [event for event in events if event not in starts + graphs]
        first, last = steps[number] if number < len(steps) else (0, 0)
        if starts and first > 0:
            starts *= 2
        if number > 0:
            graphs = []  # of the same writer
        if number > 0 or goes_on:
            rest = [event for event in rest if not event.startswith(f"CHECKPOINT {first} ")]
        if is_saved_at_the_end(text) and first != last and "no_global_step" not in text:
            rest.insert(1, f"CHECKPOINT {last} {base}")
        out.append(rest[:1] + starts + graphs + sorted(rest[1:-1]) + rest[-1:])
    return out


def in_order(files):
    """What services write at their start comes in any order."""
    out = []
    for events in files:
        head = [event for event in events[1:] if event.startswith("START") or event in ("graph_def", "meta_graph_def")]
        rest = [event for event in events[1:] if event not in head]
        out.append(events[:1] + head + sorted(rest[:-1]) + rest[-1:])
        assert events[1 : 1 + len(head)] == head  # before all else
    return out


def said_alike(lines):
    """RuntimeError is FailedPrecondition here."""
    return [re.sub("^error (RuntimeError|FailedPrecondition)$", "error Runtime", line) for line in lines]


def compare(text, mine, other, said_mine, said_other, goes_on=False):
    assert said_alike(said_mine) == said_alike(said_other)
    assert files_of(mine) == files_of(other)
    words = dict(word.partition("=")[::2] for word in text.split())
    base = words.get("basename", "model.ckpt")
    steps = list(zip(*[[int(line.split()[1]) for line in said_other if line.startswith(what)] for what in ("start ", "end ")]))
    new = slice(1, None) if goes_on else slice(None)
    assert in_order(events_of(mine)[new]) == as_ours(events_of(other)[new], steps, text, base, goes_on)
    checkpoints, expected = checkpoints_of(mine), checkpoints_of(other)
    if is_saved_at_the_end(text):
        for first, last in steps:
            name = base if "no_global_step" in words else f"{base}-{last}"
            if first == last:
                continue
            expected[name] = checkpoints[name]  # ours alone
            expected["newest"] = name
            expected["all"] = [one for one in expected["all"] if one != name] + [name]
            assert checkpoints[name]["w"] == float(next(line.split()[3] for line in said_other if line.startswith(f"end {last} ")))
    assert checkpoints == expected


@pytest.mark.parametrize("scene", SCENES)
def test_a_run_is_as_tensorflows(scene, tmp_path):
    text = SCENES[scene]
    mine, other = tmp_path / "ours", tmp_path / "theirs"
    compare(text, mine, other, ours(mine, text), theirs(other, text))


@pytest.mark.parametrize("scene", AGAIN)
def test_a_second_program_goes_on_as_tensorflows(scene, tmp_path):
    """From the same directory, which a program of ours has left: TensorFlow's does not save its last step."""
    text = AGAIN[scene]
    mine, other = tmp_path / "ours", tmp_path / "theirs"
    for logdir in (mine, other):
        ours(logdir, "steps=2")
    compare(text, mine, other, ours(mine, text), theirs(other, text), goes_on=True)


def test_tensorflow_goes_on_from_our_run(tmp_path):
    ours(tmp_path, "steps=5")
    assert theirs(tmp_path, "steps=1")[:2] == ["start 5 w 2.5", "seen 5"]
