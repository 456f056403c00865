"""A case of op_table.py as a graph: made, differentiated and run by TensorFlow, with the job that must give the same here.

Where the case has a gradient, Runnel differentiates TensorFlow's graph as well, and a second job runs what it made.
"""
import json
import pathlib
import subprocess
import zlib

import numpy as np

from op_line import MOVED, OPS, TYPE, Held, Steps
from oracle import BUILD, RUNNEL, Job, difference, run_jobs, session, tf

TYPE_ATTRS = ("T", "dtype", "SrcT", "Tout", "Tparams")
FLOATS = (tf.float32, tf.float64)
FEW = (tf.float32, tf.float64, tf.int32, tf.string)
WORDS = [b"", b"a", b"runnel", b"tensor", "\u00e9t\u00e9".encode()]


def kernels_by_op():
    """{op: {attr: names of dtypes}} of what runs here."""
    done = subprocess.run([RUNNEL, "ops", "--json"], capture_output=True, text=True, check=True)
    out = {}
    for spec in json.loads(done.stdout):
        attrs, attr = out.setdefault(spec["name"], {}), None
        for word in spec["kernels"].split(", "):
            if ": " in word:
                attr, word = word.split(": ")
            if attr:
                attrs.setdefault(attr, []).append(word)
    return out


KERNELS = kernels_by_op()


def kernel_types(name):
    kernels = KERNELS.get(name, {})
    for attr in TYPE_ATTRS:
        if attr in kernels:
            return tuple(tf.as_dtype(name) for name in kernels[attr])
    return MOVED


def types_of(line):
    """Of an op's later lines a few: each dtype's loop was run by the first."""
    types = line.types or kernel_types(line.name)
    first = next(other for other in OPS if other.name == line.name)
    return types if line is first or line.types or line.every_type else tuple(t for t in types if t in FEW)


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


def parts(gradient):
    """The tensors of a gradient: one, values and indices, or none."""
    if gradient is None:
        return []
    return [gradient.values, gradient.indices] if isinstance(gradient, tf.IndexedSlices) else [gradient]


class Case:
    def __init__(self, line, dtype, name):
        self.line, self.dtype, self.case = line, dtype, name
        self.random = np.random.RandomState(zlib.crc32(f"{line.id}/{dtype.name}/{name}".encode()))
        self.feeds, self.job, self.ops = {}, None, set()
        self.skipped = self.refused = None  # why TensorFlow has no kernel; what it says of the case
        self.ys, self.weights, self.slopes = [], [], {}  # slopes: {x: TensorFlow's gradient}
        self.slope_job = None

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

    def differentiate(self, outputs, inputs):
        """Weighted by constants where the shape is known, else by ones."""
        xs = [x for x in inputs if isinstance(x, tf.Tensor) and x.dtype.base_dtype in FLOATS]
        self.ys = [y for y in outputs if y.dtype.base_dtype in FLOATS]
        if not (self.line.gradient and xs and self.ys):
            return
        self.weights = [tf.constant(sample(y.shape.as_list(), y.dtype.base_dtype, "any", self.random), y.dtype.base_dtype)
                        if y.shape.is_fully_defined() else None for y in self.ys]
        self.slopes = dict(zip([x.name for x in xs], tf.gradients(self.ys, xs, grad_ys=self.weights)))

    def run(self, folder):
        """TensorFlow's values, and the job that must give the same. A dtype without a kernel there is skipped."""
        with tf.Graph().as_default() as graph:
            inputs = [self.argument(given) for given in self.line.cases[self.case]]
            made = self.line.build(*inputs)
            steps = made if isinstance(made, Steps) else Steps(None, made if isinstance(made, list) else [made])
            if steps.init is None:
                self.differentiate(steps.fetches, inputs)
            fetches = steps.fetches + [tensor for slope in self.slopes.values() for tensor in parts(slope)]
            self.ops = {node.type for node in graph.get_operations()}
            targets = [] if steps.target is None else [steps.target]
            with session(graph) as tensorflow:
                try:
                    if steps.init is not None:
                        tensorflow.run(steps.init)
                    for target in targets:
                        tensorflow.run(target, self.feeds)
                    values = tensorflow.run(fetches, self.feeds)
                except tf.errors.InvalidArgumentError as error:
                    if "No OpKernel" not in error.message:
                        raise
                    self.skipped = error.message.splitlines()[0]
                    return
            self.stem = folder / self.name.replace("/", ".")
            pathlib.Path(f"{self.stem}.pb").write_bytes(graph.as_graph_def().SerializeToString())
            names = [tensor.name for tensor in fetches]
            self.expected = dict(zip(names, values))
            self.job = Job(f"{self.stem}.pb", names, self.stem, init=steps.init and steps.init.name,
                           targets=[target.name for target in targets],
                           feeds={tensor.name: value for tensor, value in self.feeds.items()})

    def differentiate_line(self):
        """For the program `differentiate`."""
        weights = ",".join("-" if weight is None else weight.name for weight in self.weights)
        return " ".join([f"{self.stem}.pb", f"{self.stem}.ours.pb", ",".join(y.name for y in self.ys), ",".join(self.slopes),
                         weights])

    def take_slopes(self, answer):
        """Our gradients: what `differentiate` printed."""
        word, *found = answer.split(" ")
        self.our_slopes = [[] if names == "-" else names.split(",") for names in found] if word == "ok" else answer
        if word == "ok":
            self.slope_job = Job(f"{self.stem}.ours.pb", sum(self.our_slopes, []), f"{self.stem}.ours", feeds=self.job.feeds)

    def failure(self):
        """None, or one sentence."""
        if self.job.error:
            return f"{self.name}: {self.job.error}"
        for name, value in self.expected.items():
            ours = self.job.values[name]
            if self.line.seen:
                ours, value = self.line.seen(ours), self.line.seen(value)
            if why := difference(ours, value):
                return f"{self.name}: {name} is {why}"
        return None

    def slope_failure(self):
        if self.slope_job is None or self.slope_job.error:
            return f"{self.name}: {self.slope_job.error if self.slope_job else self.our_slopes}"
        for (x, theirs), ours in zip(self.slopes.items(), self.our_slopes, strict=True):
            if len(ours) != len(parts(theirs)):
                return f"{self.name}: the gradient by {x} is {ours}, TensorFlow's is {theirs}"
            for name, tensor in zip(ours, parts(theirs)):
                if why := difference(self.slope_job.values[name], self.expected[tensor.name]):
                    return f"{self.name}: the gradient by {x} is {why}"
        return None


def run_cases(cases, folder):
    for case in cases:
        try:
            case.run(folder)
        except Exception as error:  # a case that TensorFlow refuses: its line fails, not the others
            case.refused = f"{case.name}: TensorFlow says {' '.join(str(error).split())[:300]}"
    run_jobs([case.job for case in cases if case.job], folder)
    sloped = [case for case in cases if case.job and case.slopes]
    jobs = folder / "slopes.txt"
    jobs.write_text("".join(case.differentiate_line() + "\n" for case in sloped))
    done = subprocess.run([BUILD / "tests/interop/differentiate", jobs], capture_output=True, text=True)
    for case, answer in zip(sloped, done.stdout.splitlines() + [f"ended with status {done.returncode}"] * len(sloped)):
        case.take_slopes(answer)
    run_jobs([case.slope_job for case in sloped if case.slope_job], folder)
