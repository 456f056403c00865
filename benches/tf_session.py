#!/usr/bin/env python3
"""The benchmarks' graphs in TensorFlow, op for op as models.cc builds them, and what a step costs there from Python.

usage: tf_session.py export DIR     writes the graphs, feeds and settings that tf_callable reads
       tf_session.py serve          reads lines "CASE SECONDS", answers each with one line of JSON: microseconds a step
                                    through session.run and through the best callable

One thread, the caller's own (inter_op_parallelism_threads=-1), which is TensorFlow's best setting for small steps.
"""
import json
import os
import sys
import time

for setting in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(setting, None)
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import config_pb2

tf.logging.set_verbosity(tf.logging.ERROR)
tf.disable_v2_behavior()


def linear_regression(fed):
    draw = np.random.RandomState(0)
    xs = draw.rand(100).astype(np.float32)
    ys = (xs * 0.1 + 0.3).astype(np.float32)
    feeds = {}
    if fed:
        x, y = tf.placeholder(tf.float32, [100], name="x"), tf.placeholder(tf.float32, [100], name="y")
        feeds = {x: xs, y: ys}
    else:
        x, y = tf.constant(xs), tf.constant(ys)
    w = tf.Variable(tf.random_uniform([1], -1.0, 1.0, seed=7))
    b = tf.Variable(tf.zeros([1]))
    loss = tf.reduce_mean(tf.square(w * x + b - y), name="loss")
    return tf.train.GradientDescentOptimizer(0.5).minimize(loss), feeds


def mlp(sizes, batch):
    draw = np.random.RandomState(0)
    x = tf.placeholder(tf.float32, [batch, sizes[0]], name="x")
    h = x
    for i in range(len(sizes) - 1):
        spread = (2.0 / sizes[i]) ** 0.5
        w = tf.Variable(tf.random_normal([sizes[i], sizes[i + 1]], stddev=spread, seed=i + 1))
        b = tf.Variable(tf.zeros([sizes[i + 1]]))
        h = tf.matmul(h, w) + b
        if i < len(sizes) - 2:
            h = tf.nn.relu(h)
    y = tf.placeholder(tf.int32, [batch], name="y")
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=h)
    step = tf.train.GradientDescentOptimizer(0.01).minimize(tf.reduce_mean(losses, name="loss"))
    return step, {x: draw.randn(batch, sizes[0]).astype(np.float32),
                  y: draw.randint(0, sizes[-1], size=batch).astype(np.int32)}


def add_chain(length):
    # The scalar has no known shape, or the rewriter would fold the chain to one addition.
    v = tf.Variable(1.0)
    c = tf.placeholder_with_default(tf.constant(1e-3), shape=None)
    y = tf.identity(v)
    for _ in range(length):
        y = tf.add(y, c)
    return y.op, {}


CASES = {
    "linear_regression/constant": lambda: linear_regression(False),
    "linear_regression/fed": lambda: linear_regression(True),
    "mlp/4-16-16-3/16": lambda: mlp([4, 16, 16, 3], 16),
    "mlp/784-128-128-10/32": lambda: mlp([784, 128, 128, 10], 32),
    "mlp/784-512-512-10/128": lambda: mlp([784, 512, 512, 10], 128),
    "add_chain/1000": lambda: add_chain(1000),
}


def settings():
    return tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=-1)


def built(case):
    tf.reset_default_graph()
    tf.disable_resource_variables()
    step, feeds = CASES[case]()
    return step, feeds, tf.global_variables_initializer()


def export(folder):
    with open(os.path.join(folder, "config.pb"), "wb") as f:
        f.write(settings().SerializeToString())
    for case in CASES:
        step, feeds, init = built(case)
        path = os.path.join(folder, case.replace("/", "_"))
        with open(path + ".pb", "wb") as f:
            f.write(tf.get_default_graph().as_graph_def().SerializeToString())
        with open(path + ".txt", "w") as f:
            print(init.name, step.name, len(feeds), file=f)
            for i, (key, value) in enumerate(feeds.items()):
                value.tofile("%s.%d" % (path, i))
                print(key.name, key.dtype.as_datatype_enum, value.ndim, *value.shape, file=f)


def microseconds(call, seconds):
    """Of one call, in a run of about so many seconds."""
    call()
    count, begin = 1, time.perf_counter()
    while True:
        begin = time.perf_counter()
        for _ in range(count):
            call()
        took = time.perf_counter() - begin
        if took >= seconds / 2:
            return took / count * 1e6
        count = max(2 * count, int(count * seconds / max(took, 1e-9) * 0.8))


class Timed:
    """A case in a session of its own."""

    def __init__(self, case):
        step, feeds, init = built(case)
        self.session = tf.Session(config=settings())
        self.session.run(init)
        self.run = (lambda: self.session.run(step, feeds)) if feeds else (lambda: self.session.run(step))
        if feeds:
            # make_callable hands feeds to session.run; this one has the fast path.
            options = config_pb2.CallableOptions(target=[step.name], feed=[key.name for key in feeds])
            fed = self.session._make_callable_from_options(options)
            values = list(feeds.values())
            self.callable = lambda: fed(*values)
        else:
            self.callable = self.session.make_callable(step)


def serve():
    cases = {}
    for line in sys.stdin:
        case, seconds = line.split()
        if case not in cases:
            cases[case] = Timed(case)
        timed = cases[case]
        print(json.dumps({"run": microseconds(timed.run, float(seconds)),
                          "callable": microseconds(timed.callable, float(seconds))}), flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "export":
        export(sys.argv[2])
    elif sys.argv[1:] == ["serve"]:
        serve()
    else:
        sys.exit(__doc__)
