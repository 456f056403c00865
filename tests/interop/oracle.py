"""Both sides of the comparison: TensorFlow as TensorFlow 1 was, in this process, and `runnel`, always in its own.

Files are all that passes between them: graphs as .pb or .meta, tensors as .npy. RUNNEL_BUILD names the build folder.
"""
import json
import os
import pathlib
import shlex
import subprocess

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/golden"
BUILD = pathlib.Path(os.environ.get("RUNNEL_BUILD", ROOT / "build"))
RUNNEL = BUILD / "train/cli/runnel"


def session(graph=None):
    """One thread and the graph as it was made, so that numbers are those of the plain kernels."""
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    config.graph_options.optimizer_options.opt_level = -1
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return tf.Session(graph=graph, config=config)


def as_npy(value):
    """The array that a .npy file of this value gives back: strings as S, types that NumPy lacks as integers."""
    value = np.asarray(value)
    if value.dtype == object:
        flat = [item.encode() if isinstance(item, str) else item for item in value.ravel()]
        longest = max([len(item) for item in flat], default=1) or 1
        return np.array(flat, dtype=f"S{longest}").reshape(value.shape)
    if value.dtype.name == "bfloat16":
        return value.view(np.uint16)
    return value


def difference(ours, theirs, near_zero=1e-6, at_least=0.0):
    """None if equal: floats to 1e-5 relative plus `near_zero` of the largest magnitude, all else exactly; or what differs.

    `at_least` is a magnitude that went into the tensor, for values that are what is left when large ones cancel.
    """
    theirs = as_npy(theirs)
    if ours.shape != theirs.shape:
        return f"shape {list(ours.shape)}, TensorFlow's is {list(theirs.shape)}"
    if ours.dtype.kind != theirs.dtype.kind or ours.dtype.kind != "S" and ours.dtype != theirs.dtype:
        return f"dtype {ours.dtype}, TensorFlow's is {theirs.dtype}"
    if theirs.dtype.kind not in "fc":
        return None if np.array_equal(ours, theirs) else f"{shown(ours)}, TensorFlow's is {shown(theirs)}"
    sizes = np.abs(theirs[np.isfinite(theirs)])
    bound = 1e-5 * np.abs(theirs) + near_zero * max(sizes.max() if sizes.size else 0, at_least)
    with np.errstate(invalid="ignore"):
        near = (np.abs(ours - theirs) <= bound) | (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    return None if near.all() else f"{shown(ours)}, TensorFlow's is {shown(theirs)}"


def shown(value):
    return np.array2string(value.ravel()[:8], threshold=8, separator=",").replace("\n", "")


class Job:
    """One line of a batch. `fetches` are names; after the run `values` has their arrays, or `error` and `code` say why not."""

    def __init__(self, model, fetches, out, *, init=None, targets=(), steps=1, feeds=None):
        self.model, self.out = pathlib.Path(model), pathlib.Path(out)
        self.fetches, self.init, self.targets, self.steps = list(dict.fromkeys(fetches)), init, targets, steps
        self.feeds = feeds or {}  # name: array
        self.error = "it was not run"
        self.code = None  # of the error: "InvalidArgument"
        self.values = {}

    def file(self, name):
        return self.out / (name.replace("/", "_").replace(":", "_") + ".npy")

    def line(self):
        """Writes the feeds, too."""
        words = [self.model, "--out", self.out, "--steps", self.steps]
        if self.init:
            words += ["--init", self.init]
        for target in self.targets:
            words += ["--target", target]
        for i, (name, value) in enumerate(self.feeds.items()):
            path = self.out.parent / f"{self.out.name}.feed{i}.npy"
            np.save(path, as_npy(value))
            words += ["--feed", f"{name}={path}"]
        for name in self.fetches:
            words += ["--fetch", name]
        return " ".join(shlex.quote(str(word)) for word in words)

    def take(self, result):
        self.error, self.code = (result["error"][key] if "error" in result else None for key in ("message", "code"))
        if self.error is None:
            self.values = {name: np.load(self.file(name)) for name in self.fetches}


def run_jobs(jobs, folder):
    """All in one process, or one more after each job that ended it."""
    batch = pathlib.Path(folder) / "jobs.txt"
    lines = [job.line() for job in jobs]
    first = 0
    while first < len(jobs):
        batch.write_text("\n".join(lines[first:]) + "\n")
        done = subprocess.run([RUNNEL, "run", "--batch", batch, "--json"], capture_output=True, text=True)
        results = [json.loads(line) for line in done.stdout.splitlines()]
        for result in results:
            jobs[first + result["line"] - 1].take(result)
        first += len(results)
        if done.returncode not in (0, 1):
            jobs[first].error = f"it ended the process with status {done.returncode}"
            first += 1
        elif first < len(jobs):
            raise AssertionError(f"{len(jobs) - first} jobs have no result: {done.stderr}")
    return jobs
