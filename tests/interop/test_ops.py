"""Every line of op_table.py on every case and dtype: TensorFlow's graph, run by TensorFlow and by `runnel run --batch`.

All graphs are made and run by TensorFlow first, then one process of ours runs them, then each line is a test. With
pytest's -k only the lines chosen are built.
"""
import json
import pathlib
import shutil
import subprocess
import tempfile
import zlib

import numpy as np
import pytest

from op_table import MOVED, NO_LINE, OPS, TYPE, Held, Steps
from oracle import RUNNEL, Job, difference, run_jobs, session, tf

TYPE_ATTRS = ("T", "dtype", "SrcT", "Tout", "Tparams")
WORDS = [b"", b"a", b"runnel", b"tensor", "\u00e9t\u00e9".encode()]


def kernels_by_op():
    """{op: {attr: names of dtypes}} of what runs here."""
    done = subprocess.run([RUNNEL, "ops", "--json"], capture_output=True, text=True, check=True)
    out = {}
    for spec in json.loads(done.stdout):
        attrs = out.setdefault(spec["name"], {})
        attr = None
        for word in spec["kernels"].split(", "):
            if ": " in word:
                attr, word = word.split(": ")
            if attr:
                attrs.setdefault(attr, []).append(word)
    return out


KERNELS = kernels_by_op()


def types_of(line):
    if line.types:
        return line.types
    kernels = KERNELS.get(line.name, {})
    for attr in TYPE_ATTRS:
        if attr in kernels:
            return tuple(tf.as_dtype(name) for name in kernels[attr])
    return MOVED


def sample(shape, dtype, domain, random):
    """Values of the dtype; floats of "coarse" and "tiny" meet each other often and add up without rounding."""
    if dtype == tf.string:
        return np.array([WORDS[i] for i in random.randint(0, len(WORDS), int(np.prod(shape)))], object).reshape(shape)
    if dtype == tf.bool:
        return random.randint(0, 2, shape).astype(bool)
    if domain in ("coarse", "tiny") or dtype.is_integer:
        low = 1 if domain == "positive" else 0 if dtype.is_unsigned else -4
        value = random.randint(low, 6, shape)
        return np.asarray(value if dtype.is_integer else value / 2).astype(dtype.as_numpy_dtype)
    low, high = {"any": (-2, 2), "positive": (0.3, 3), "unit": (0, 1)}[domain]
    value = np.asarray(random.uniform(low, high, shape))
    if dtype.is_complex:
        value = value + 1j * np.asarray(random.uniform(low, high, shape))
    return value.astype(dtype.as_numpy_dtype)


class Case:
    """One graph of a line: for one dtype, on one of its cases."""

    def __init__(self, line, dtype, name):
        self.line, self.dtype, self.case = line, dtype, name
        self.random = np.random.RandomState(zlib.crc32(f"{line.id}/{dtype.name}/{name}".encode()))
        self.feeds, self.job, self.skipped, self.refused = {}, None, None, None

    @property
    def name(self):
        return f"{self.line.id}/{self.dtype.name}/{self.case}"

    def argument(self, given):
        """The array, dtype or tensor that stands for an entry of the table."""
        if given is TYPE:
            return self.dtype
        if isinstance(given, Held):
            return sample(given.shape, self.dtype, self.line.values, self.random)
        value = given if isinstance(given, np.ndarray) else sample(given, self.dtype, self.line.values, self.random)
        dtype = tf.as_dtype(value.dtype) if isinstance(given, np.ndarray) else self.dtype
        if self.case == "unknown_dim":
            tensor = tf.placeholder(dtype, [None] * value.ndim)
        elif self.case == "unknown_rank":
            tensor = tf.placeholder(dtype)
        else:
            return tf.constant(value, dtype)
        self.feeds[tensor] = value
        return tensor

    def gradients(self, outputs, inputs):
        xs = [x for x in inputs if isinstance(x, tf.Tensor) and x.dtype.base_dtype in (tf.float32, tf.float64)]
        ys = [y for y in outputs if y.dtype.base_dtype in (tf.float32, tf.float64)]
        if not (self.line.gradient and xs and ys):
            return []
        weights = [tf.constant(sample(y.shape.as_list(), y.dtype.base_dtype, "any", self.random), y.dtype.base_dtype)
                   if y.shape.is_fully_defined() else None for y in ys]
        found = []
        for gradient in tf.gradients(ys, xs, grad_ys=weights):
            if isinstance(gradient, tf.IndexedSlices):
                found += [gradient.values, gradient.indices]
            elif gradient is not None:
                found.append(gradient)
        return found

    def run(self, folder):
        """TensorFlow's values, and the job that must give the same. A dtype without a kernel there is skipped."""
        with tf.Graph().as_default() as graph:
            inputs = [self.argument(given) for given in self.line.cases[self.case]]
            made = self.line.build(*inputs)
            steps = made if isinstance(made, Steps) else None
            outputs = list(steps.fetches) if steps else made if isinstance(made, list) else [made]
            fetches = outputs + ([] if steps else self.gradients(outputs, inputs))
            self.ops = {node.type for node in graph.get_operations()}
            with session(graph) as tensorflow:
                try:
                    if steps:
                        tensorflow.run(steps.init)
                    if steps and steps.target is not None:
                        tensorflow.run(steps.target, self.feeds)
                    values = tensorflow.run(fetches, self.feeds)
                except tf.errors.InvalidArgumentError as error:
                    if "No OpKernel" not in error.message:
                        raise
                    self.skipped = error.message.splitlines()[0]
                    return
            stem = folder / self.name.replace("/", ".")
            model = stem.with_name(stem.name + ".pb")
            model.write_bytes(graph.as_graph_def().SerializeToString())
            names = [tensor.name for tensor in fetches]
            self.expected = dict(zip(names, values))
            self.job = Job(model, names, stem, init=steps and steps.init.name,
                           targets=[steps.target.name] if steps and steps.target is not None else (),
                           feeds={tensor.name: value for tensor, value in self.feeds.items()})

    def failure(self):
        """None, or one sentence."""
        if self.job.error:
            return f"{self.name}: {self.job.error}"
        for name, value in self.expected.items():
            if why := difference(self.job.values[name], value):
                return f"{self.name}: {name} is {why}"
        return None


def memory_folder(tmp_path_factory):
    """Thousands of small files, each synced: in memory where the machine has such a folder."""
    if not pathlib.Path("/dev/shm").is_dir():
        return tmp_path_factory.mktemp("ops")
    return pathlib.Path(tempfile.mkdtemp(prefix="runnel_ops.", dir="/dev/shm"))


@pytest.fixture(scope="session")
def ran(request, tmp_path_factory):
    """{line id: its cases}, all run on both sides."""
    folder = memory_folder(tmp_path_factory)
    chosen = {item.callspec.params["line"].id for item in request.session.items
              if hasattr(item, "callspec") and "line" in item.callspec.params}
    done = {}
    for line in OPS:
        if line.id not in chosen:
            continue
        done[line.id] = [Case(line, dtype, name) for dtype in types_of(line) for name in line.cases]
        for case in done[line.id]:
            try:
                case.run(folder)
            except Exception as error:  # a case that TensorFlow refuses: its line fails, not the others
                case.refused = f"{case.name}: TensorFlow says {' '.join(str(error).split())[:300]}"
    run_jobs([case.job for found in done.values() for case in found if case.job], folder)
    yield done
    shutil.rmtree(folder)


@pytest.mark.parametrize("line", OPS, ids=lambda line: line.id)
def test_op_gives_tensorflows_values_and_gradients(line, ran):
    cases = ran[line.id]
    refused = [case.refused for case in cases if case.refused]
    assert not refused, "\n".join(refused)
    compared = [case for case in cases if case.job]
    assert compared, f"TensorFlow runs none: {cases[0].skipped}"
    assert any(line.name in case.ops for case in cases), f"no graph of this line has a {line.name}"
    failures = [why for case in compared if (why := case.failure())]
    assert not failures, f"{len(failures)} of {len(compared)} cases differ:\n" + "\n".join(failures)


def test_every_op_has_a_line():
    lines = {line.name for line in OPS}
    missing = KERNELS.keys() - lines - NO_LINE.keys()
    assert not missing, f"no line in op_table.py: {sorted(missing)}"
    assert not lines & NO_LINE.keys()
