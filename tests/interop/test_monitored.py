"""MonitoredTrainingSession and SingularMonitoredSession beside TensorFlow's: the same words make the same session on both
sides (ours is run_monitored.cc). Compared: who is called in which order with what, what each run gives, which error leaves,
whether the graph is left finalised; and for the services files, checkpoints, tags, steps and the order of events.

What differs on purpose is in train/monitored/README.md, and in DIFFERS.
"""
import re
import subprocess

import pytest

from oracle import BUILD, tf
from tensorflow.python.training.monitored_session import USE_DEFAULT

SCENES = {
    "runs and closes": "loop=2",
    "no directory": "loop=2 no_dir",
    "finalized before": "loop=1 finalized no_dir",
    "a hook stops": "loop=5 A_stop=2",
    "a hook stops before a run": "loop=5 B_stop_before=2",
    "a run after the stop": "loop=5 A_stop=2 never_asks",
    "used after closing": "loop=1 again",
    "hooks fetch": "loop=2 A_fetches B_fetches",
    "a hook feeds": "loop=1 A_feeds A_fetches",
    "two hooks feed": "loop=1 A_feeds B_feeds",
    "hook and caller feed": "loop=1 A_feeds feeds",
    "input ends": "loop=5 A_before=OutOfRange@3",
    "input ends in the loop": "loop=5 loop_fails=OutOfRange@2",
    "an error in the loop": "loop=5 loop_fails=Mine@2",
    "an error of the library": "loop=5 loop_fails=Internal@2",
    "a hook fails before a run": "loop=5 B_before=Internal@2",
    "a hook fails after a run": "loop=5 A_after=Internal@2",
    "a hook fails at the end": "loop=2 B_end=Internal",
    "lost before a run": "loop=4 A_before=Aborted@3 ckpt_steps=2",
    "lost after a run": "loop=4 A_after=Unavailable@3 ckpt_steps=2",
    "lost after a run that is saved": "loop=4 B_after=Unavailable@2 ckpt_steps=2",
    "lost twice": "loop=4 A_before=Aborted@2 B_before=Unavailable@3 ckpt_steps=1",
    "lost without checkpoints": "loop=4 A_before=Aborted@3 no_dir",
    "lost while it starts": "loop=2 A_created=Unavailable",
    "lost while it starts again": "loop=3 A_before=Aborted@2 A_created=Aborted@2",
    "an error while it starts": "loop=2 A_created=Internal",
    "lost in a thread": "loop=2 A_thread=Aborted",
    "an error in a thread": "loop=2 A_thread=NotFound",
    "an error in a thread, never asked for": "loop=2 A_thread=NotFound never_asks",
    "the end of input in a thread": "loop=2 A_thread=OutOfRange",
    "a thread stops": "loop=2 B_stops_threads",
    "a thread stops, never asked for": "loop=2 B_stops_threads never_asks",
    "step function": "loop=3 step_fn",
    "step function stops": "loop=3 step_fn step_stop=2",
    "step function is lost": "loop=3 step_fn A_before=Aborted@2 ckpt_steps=1",
    "singular": "loop=2 singular",
    "singular, lost": "loop=2 singular A_before=Aborted@2",
    "singular, input ends": "loop=5 singular A_before=OutOfRange@2",
    "singular, an error in a thread": "loop=2 singular A_thread=Aborted",
    "worker without a chief": "loop=1 worker",
    "two ready ops": "loop=1 two_ready_ops",
}
SERVICES = {
    "defaults": "loop=3",
    "by steps": "loop=7 ckpt_steps=3 sum_steps=2 log_steps=2",
    "every step": "loop=3 ckpt_steps=1 sum_steps=1 log_steps=1",
    "long seconds": "loop=3 ckpt_secs=1000 sum_secs=1000",
    "no summaries": "loop=3 sum_steps=none",
    "no summaries by 0": "loop=3 sum_secs=0",
    "no checkpoints": "loop=3 ckpt_steps=none sum_steps=1",
    "no checkpoints by 0": "loop=3 ckpt_secs=0",
    "no rate": "loop=3 log_steps=none ckpt_steps=2",
    "no rate by 0": "loop=3 log_steps=0",
    "nothing": "loop=3 log_steps=none ckpt_steps=none sum_steps=none",
    "own summary directory": "loop=4 sum_dir sum_steps=2 ckpt_steps=2",
    "no graph": "loop=4 no_graph sum_steps=2 ckpt_steps=2",
    "lost": "loop=5 ckpt_steps=2 sum_steps=1 A_before=Aborted@4",
    "an error ends it": "loop=5 ckpt_steps=2 sum_steps=1 loop_fails=Mine@3",
}
KINDS = {"RuntimeError": "FailedPrecondition", "ValueError": "InvalidArgument", "AttributeError": "FailedPrecondition"}
# Ours where it is not theirs, from the first line that differs on; the rows of the README's table say why.
DIFFERS = {
    "an error while it starts": ["not finalized"],
    "worker without a chief": ["not finalized"],
    "singular, an error in a thread": ["should stop", "B end 0", "A end 0", "error Aborted", "not finalized"],
    "step function is lost": ["A before", "B before", "A after", "B after", "stepped 2", "A before", "B before", "A after",
                              "B after", "stepped 3", "A end 3", "B end 3", "no error", "not finalized"],
}


class Mine(Exception):
    pass


def fail(kind):
    raise Mine() if kind == "Mine" else getattr(tf.errors, kind + "Error")(None, None, kind + " was injected")


class Failing:
    def __init__(self, words, key):
        kind, _, nth = words.get(key, "").partition("@")
        self.kind, self.nth, self.calls = kind, (int(nth or 1) if kind else -1), 0

    def come(self):
        self.calls += 1
        if self.calls == self.nth:
            fail(self.kind)


class Recorder(tf.train.SessionRunHook):
    def __init__(self, called, words, lines, model):
        self.called, self.words, self.lines, self.model, self.runs = called, words, lines, model, 0
        places = ("before", "after", "created", "end", "thread")
        self.failing = {place: Failing(words, f"{called}_{place}") for place in places}

    def say(self, what):
        self.lines.append(f"{self.called} {what}")

    def has(self, word):
        return f"{self.called}_{word}" in self.words

    def begin(self):
        self.say("begin")

    def after_create_session(self, session, coord):
        self.say(f"created {session.run(self.model.step)}")
        self.failing["created"].come()
        try:
            self.failing["thread"].come()
        except tf.errors.OpError as error:
            coord.request_stop(error)
        if self.has("stops_threads"):
            coord.request_stop()

    def before_run(self, context):
        self.say("before")
        self.failing["before"].come()
        self.runs += 1
        if self.words.get(f"{self.called}_stop_before") == str(self.runs):
            context.request_stop()
        fetches = [self.model.x, self.model.x] if self.has("fetches") else None
        return tf.train.SessionRunArgs(fetches, {self.model.x: 2.0} if self.has("feeds") else None)

    def after_run(self, context, values):
        self.say(" ".join(["after", *(f"{value:f}" for value in values.results or [])]))
        self.failing["after"].come()
        if self.words.get(f"{self.called}_stop") == str(self.runs):
            context.request_stop()

    def end(self, session):
        self.say(f"end {session.run(self.model.step)}")
        self.failing["end"].come()


class Model:
    def __init__(self):
        self.step = tf.train.get_or_create_global_step()
        self.x = tf.identity(tf.constant(0.0), "x")
        tf.summary.scalar("step", tf.cast(self.step, tf.float32))
        self.up = tf.assign_add(self.step, 1)


def setting(words, key):
    return {None: USE_DEFAULT, "none": None}[words.get(key)] if words.get(key) in (None, "none") else int(words[key])


def make_session(words, directory, hooks):
    a, b = hooks
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    if "singular" in words:
        return tf.train.SingularMonitoredSession([b, a], config=config, checkpoint_dir=directory)
    log_steps = setting(words, "log_steps")
    return tf.train.MonitoredTrainingSession(
        is_chief="worker" not in words, checkpoint_dir=None if "no_dir" in words else directory, hooks=[b], chief_only_hooks=[a],
        save_checkpoint_secs=setting(words, "ckpt_secs"), save_summaries_steps=setting(words, "sum_steps"),
        save_summaries_secs=setting(words, "sum_secs"), config=config,
        log_step_count_steps=100 if log_steps is USE_DEFAULT else log_steps, max_wait_secs=1,
        save_checkpoint_steps=setting(words, "ckpt_steps"),
        summary_dir=directory + "/summaries" if "sum_dir" in words else None, save_graph_def="no_graph" not in words)


def one_run(session, words, m, lines, i):
    feeds = {m.x: 1.0} if "feeds" in words else None
    if "step_fn" not in words:
        lines.append(f"ran {session.run(m.up, feeds)}")
        return

    def step(step_context):
        step_context.session.run(m.step)
        if words.get("step_stop") == str(i):
            step_context.request_stop()
        return step_context.run_with_hooks(m.up)

    lines.append(f"stepped {session.run_step_fn(step)}")


def body(session, words, m, lines):
    failing = Failing(words, "loop_fails")
    for i in range(1, int(words["loop"]) + 1):
        if "never_asks" not in words and session.should_stop():
            lines.append("should stop")
            break
        one_run(session, words, m, lines, i)
        failing.come()


def reporting(lines, call):
    try:
        call()
        lines.append("no error")
    except Exception as error:
        kind = type(error).__name__
        lines.append("error " + KINDS.get(kind, kind.removesuffix("Error")))


def use(session, words, m, lines):
    def block():
        with session:
            body(session, words, m, lines)

    reporting(lines, block)
    if "again" in words:
        reporting(lines, lambda: session.run(m.up))
        reporting(lines, session.close)
        lines.append("should stop" if session.should_stop() else "goes on")


def run_theirs(directory, words):
    words = dict(word.partition("=")[::2] for word in words.split())
    lines = []
    with tf.Graph().as_default() as graph:
        m = Model()
        if "two_ready_ops" in words:
            for _ in range(2):
                graph.add_to_collection("ready_op", m.step)
        if "finalized" in words:
            graph.finalize()
        hooks = [Recorder(called, words, lines, m) for called in "AB"]
        session = None
        try:
            session = make_session(words, directory, hooks)
        except Exception:
            reporting(lines, lambda: (_ for _ in ()).throw(__import__("sys").exc_info()[1]))
        if session is not None:
            use(session, words, m, lines)
        lines.append("finalized" if graph.finalized else "not finalized")
    tf.summary.FileWriterCache.clear()
    return lines


def run_ours(directory, words):
    done = subprocess.run([str(BUILD / "tests/interop/run_monitored"), directory, *words.split()], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def both(tmp_path, words):
    folders = [tmp_path / "ours", tmp_path / "theirs"]
    for folder in folders:
        folder.mkdir(exist_ok=True)
    return folders, run_ours(str(folders[0]), words), run_theirs(str(folders[1]), words)


@pytest.mark.parametrize("name", SCENES)
def test_a_session_calls_and_ends_as_tensorflows(name, tmp_path):
    _, ours, theirs = both(tmp_path, SCENES[name])
    if name in DIFFERS:
        same = next(i for i, (mine, other) in enumerate(zip(ours, theirs)) if mine != other)
        ours, theirs = ours[same:], DIFFERS[name]
    assert ours == theirs


def files(folder):
    """Without the number of data files: ours differs where a prefix is saved over (train/checkpoint/README.md)."""
    return sorted(re.sub("-of-.*", "", str(path.relative_to(folder))) for path in folder.rglob("*")
                  if path.is_file() and "tfevents" not in path.name)


def told(event):
    """A line for an event; none for what the table of differences is about (START, and where the graph stands)."""
    kind = event.WhichOneof("what")
    if kind == "summary":
        return [f"{event.step} {value.tag}" for value in event.summary.value]
    if kind == "session_log" and event.session_log.status == event.session_log.CHECKPOINT:
        return [f"{event.step} checkpoint {event.session_log.checkpoint_path.rsplit('/', 1)[-1]}"]
    return []


def events(folder):
    return [line for path in sorted(folder.rglob("*tfevents*")) for event in tf.train.summary_iterator(str(path))
            for line in told(event)]


def graphs(folder):
    kinds = [event.WhichOneof("what") for path in sorted(folder.rglob("*tfevents*")) for event in tf.train.summary_iterator(str(path))]
    return kinds.count("graph_def"), kinds.count("meta_graph_def")


@pytest.mark.parametrize("name", SERVICES)
def test_services_leave_what_tensorflows_leave(name, tmp_path):
    (mine, other), ours, theirs = both(tmp_path, SERVICES[name])
    assert ours == theirs
    assert files(mine) == files(other)
    assert events(mine) == events(other)
    assert [path.name for path in mine.iterdir() if path.is_dir()] == [path.name for path in other.iterdir() if path.is_dir()]
    for path in other.glob("model.ckpt-*.index"):
        step = int(path.stem.rsplit("-", 1)[1])
        for folder in (mine, other):
            assert tf.train.load_variable(str(folder / path.stem), "global_step") == step


def test_each_goes_on_where_the_other_one_stopped(tmp_path):
    """In one directory, three times by turns."""
    words = "loop=2 ckpt_steps=1 sum_steps=1"
    starts = []
    for run in (run_ours, run_theirs, run_ours, run_theirs):
        starts.append(next(line for line in run(str(tmp_path), words) if line.startswith("A created")))
    assert starts == [f"A created {step}" for step in (0, 2, 4, 6)]
