"""Coordinator and LooperThread beside TensorFlow's: the same scenes, the same outcomes.

Exceptions are the rows of "Differs from TensorFlow" in train/supervisor/README.md.
"""
import subprocess
import threading

import pytest

from oracle import BUILD, tf
from tensorflow.python.training import coordinator

DIFFERS = {"end, then error": ("stopped, Aborted second", "stopped, nothing")}  # the end does not excuse a failure


def error(code, text):
    return getattr(tf.errors, code + "Error")(None, None, text)


def raised_by(body):
    try:
        body()
        return "nothing"
    except tf.errors.OpError as raised:
        return f"{type(raised).__name__.removesuffix('Error')} {raised.message}"


def request_stop(coord, what):
    """Inside a handler, or Python loses what was raised."""
    if what is None:
        return coord.request_stop()
    try:
        raise what
    except tf.errors.OpError as raised:
        coord.request_stop(raised)


def stops(clean, errors):
    coord = tf.train.Coordinator(clean_stop_exception_types=clean)
    for one in errors:
        request_stop(coord, one)
    stopped = coord.should_stop()
    return ("stopped, " if stopped else "runs, ") + raised_by(coord.join)


def thread_errors():
    coord = tf.train.Coordinator()

    def fail(code, text):
        with coord.stop_on_exception():
            raise error(code, text)

    for code, text in (("Aborted", "first"), ("Internal", "second")):
        thread = threading.Thread(target=fail, args=(code, text))
        coord.register_thread(thread)
        thread.start()
        coord.wait_for_stop()
    return raised_by(coord.join)


def after_join():
    coord = tf.train.Coordinator()
    coord.join()
    yield "joined", "yes" if coord.joined else "no"
    yield "late error", raised_by(lambda: request_stop(coord, error("Aborted", "late")))
    yield "late end", raised_by(lambda: request_stop(coord, error("OutOfRange", "end")))
    coord.request_stop()
    yield "late stop", "stopped" if coord.should_stop() else "runs"
    coord.clear_stop()
    coord.request_stop()
    yield "cleared", ("joined, " if coord.joined else "not joined, ") + ("stopped" if coord.should_stop() else "runs")


class FakeTime:
    now = 0.0

    def time(self):
        return self.now


class FakeCoordinator(tf.train.Coordinator):
    """Waiting moves the time on."""

    def __init__(self, fake):
        super().__init__()
        self.fake = fake

    def wait_for_stop(self, timeout=None):
        self.fake.now += max(timeout, 0)
        return self.should_stop()


def grid(monkeypatch):
    fake, times = FakeTime(), []
    monkeypatch.setattr(coordinator, "time", fake)
    coord = FakeCoordinator(fake)

    def call():
        times.append(f"{fake.now * 1000:.0f} ")
        if len(times) == 1:
            fake.now += 0.5
        if len(times) == 6:
            coord.request_stop()

    tf.train.LooperThread(coord, 0.2, target=call).run()
    return "".join(times)


@pytest.fixture(scope="module")
def ours():
    done = subprocess.run([str(BUILD / "tests/interop/coordinate")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


SCENES = {
    "first error": (None, [("Aborted", "first"), ("Internal", "second")]),
    "end of input": (None, [("OutOfRange", "end")]),
    "end, then end": (None, [("OutOfRange", "end"), ("OutOfRange", "again")]),
    "error, then end": (None, [("Aborted", "first"), ("OutOfRange", "end")]),
    "end, then error": (None, [("OutOfRange", "end"), ("Aborted", "second")]),
    "stop, then error": (None, [None, ("Aborted", "second")]),
    "nothing": (None, []),
    "other clean types": ((tf.errors.AbortedError,), [("Aborted", "first")]),
    "no clean type": ((), [("OutOfRange", "end")]),
}


@pytest.mark.parametrize("scene", SCENES)
def test_join_raises_what_tensorflows_raises(ours, scene):
    clean, errors = SCENES[scene]
    theirs = stops(clean, [one and error(*one) for one in errors])
    assert (ours[scene], theirs) == DIFFERS.get(scene, (theirs, theirs))


def test_the_first_of_two_threads_errors_is_raised(ours):
    assert ours["thread errors"] == thread_errors()


def test_what_comes_after_join_goes_where_tensorflows_goes(ours):
    for scene, theirs in after_join():
        assert ours[scene] == theirs, scene


def test_a_loop_keeps_to_the_same_grid_of_times(ours, monkeypatch):
    assert ours["grid"] == grid(monkeypatch)
