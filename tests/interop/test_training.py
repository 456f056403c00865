"""Training graphs that TensorFlow made, run here step by step: the linear regression to the bit, an MLP and an embedding
to 1e-5."""
import json

import numpy as np
import pytest

from oracle import GOLDEN, Job, difference, run_jobs, session, tf
from tensorflow.python.ops import control_flow_ops

KINDS = ["ref", "resource"]
OPTIMIZERS = {"sgd": lambda: tf.train.GradientDescentOptimizer(0.1), "momentum": lambda: tf.train.MomentumOptimizer(0.05, 0.9),
              "nesterov": lambda: tf.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True),
              "adam": lambda: tf.train.AdamOptimizer(0.01)}


@pytest.mark.parametrize("kind", KINDS)
def test_linear_regression_is_tensorflows_bit_for_bit(kind, tmp_path):
    """Job k trains k steps; loss, W and b before each of 101 steps and after the last."""
    folder = GOLDEN / f"linear_{kind}"
    golden = json.loads((folder / "linear.json").read_text())
    tail = "/Read/ReadVariableOp:0" if kind == "resource" else ":0"
    names = {"loss": "Mean:0", "W": "weight" + tail, "b": "biase" + tail}
    jobs = run_jobs([Job(folder / "linear.ckpt-100.meta", names.values(), tmp_path / str(step), init="init",
                         targets=["GradientDescent"], steps=step) for step in range(102)], tmp_path)
    assert [job.error for job in jobs if job.error] == []
    golden["W"].append(golden["final_W"])
    golden["b"].append(golden["final_b"])
    for key, name in names.items():
        ours = [float(job.values[name].ravel()[0]) for job in jobs][:len(golden[key])]
        theirs = [float.fromhex(text) for text in golden[key]]
        assert len(ours) >= 101
        assert ours == theirs, key


def mlp(optimizer, resource):
    """64-32-10 on 48 fixed points, every value a constant or a seeded draw. Returns init, train, what to look at."""
    random = np.random.RandomState(7)
    labels = random.randint(0, 10, 48)
    pixels = (random.rand(48, 64) + np.eye(10)[labels] @ random.rand(10, 64)).astype(np.float32)

    def variable(name, shape, scale):
        value = (random.standard_normal(shape) * scale).astype(np.float32)
        return tf.get_variable(name, initializer=value, use_resource=resource)
    hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(tf.constant(pixels), variable("w1", (64, 32), 0.1)), variable("b1", (32,), 0.01)))
    logits = tf.matmul(hidden, variable("w2", (32, 10), 0.2)) + variable("b2", (10,), 0.01)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=tf.constant(labels)))
    right = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
    train = optimizer.minimize(loss, global_step=tf.train.create_global_step())
    state = [v.read_value() if resource else v for v in tf.global_variables()]
    return tf.global_variables_initializer(), train, [loss, right, *state]


def embedding(optimizer, resource):
    """Twelve vectors of which nine are gathered, through two gathers of one table, to fit products of pairs."""
    random = np.random.RandomState(8)
    table = tf.get_variable("table", initializer=random.standard_normal((12, 4)).astype(np.float32), use_resource=resource)
    left, right = (tf.constant(random.randint(0, 9, 30), dtype) for dtype in (tf.int32, tf.int64))
    rows = table.read_value() if resource else table  # not through the handle: ResourceGather is not known here
    product = tf.reduce_sum(tf.gather(rows, left) * tf.gather(rows, right), axis=1)
    loss = tf.reduce_mean(tf.square(product - tf.constant(random.rand(30).astype(np.float32))))
    train = optimizer.minimize(loss)
    state = [v.read_value() if resource else v for v in tf.global_variables()]
    return tf.global_variables_initializer(), train, [loss, *state]


MODELS = [(mlp, name) for name in OPTIMIZERS] + [(embedding, name) for name in ("momentum", "nesterov")]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """{(model, optimizer, kind): [(job, TensorFlow's values)] after 0, 1, 10 and 50 steps}; ours in one process."""
    folder, out = tmp_path_factory.mktemp("trained"), {}
    for build, name in MODELS:
        for kind in KINDS:
            with tf.Graph().as_default() as graph:
                init, train, fetches = build(OPTIMIZERS[name](), kind == "resource")
                stem = f"{build.__name__}_{name}_{kind}"
                model = folder / f"{stem}.meta"
                tf.train.export_meta_graph(str(model))
                names, done = [fetch.name for fetch in fetches], []
                with session(graph) as tensorflow:
                    tensorflow.run(init)
                    for step in range(51):
                        if step in (0, 1, 10, 50):
                            job = Job(model, names, folder / f"{stem}_{step}", init=init.name, targets=[train.name], steps=step)
                            done.append((job, dict(zip(names, tensorflow.run(fetches)))))
                        tensorflow.run(train)
                out[build, name, kind] = done
    run_jobs([job for done in out.values() for job, _ in done], folder)
    return out


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model, optimizer", MODELS, ids=lambda value: getattr(value, "__name__", value))
def test_a_model_trains_as_in_tensorflow(model, optimizer, kind, trained):
    """To 1e-5 of each tensor's largest value: matrix products add up in another order here, and after 50 steps that
    shows in an accumulated gradient whose terms cancel."""
    for job, expected in trained[model, optimizer, kind]:
        assert job.error is None, job.error
        for name, theirs in expected.items():
            assert (why := difference(job.values[name], theirs, near_zero=1e-5)) is None, f"step {job.steps}: {name} is {why}"
    losses = [expected[next(iter(expected))] for _, expected in trained[model, optimizer, kind]]
    assert losses[-1] < losses[0] / 2, "the test would compare nothing if it did not learn"


def switched(resource):
    """y is -x or x * v; v is trained on one side alone."""
    x, p = tf.placeholder(tf.float32, [None], "x"), tf.placeholder(tf.bool, [], "p")
    v = tf.get_variable("v", initializer=2.0, use_resource=resource)
    off, on = control_flow_ops.switch(x, p)
    return control_flow_ops.merge([-off, on * v])[0]


def cond(resource):
    """Two variables, each in both branches, of which one is there twice."""
    x, p = tf.placeholder(tf.float32, [None], "x"), tf.placeholder(tf.bool, [], "p")
    v = tf.get_variable("v", initializer=2.0, use_resource=resource)
    b = tf.get_variable("b", initializer=[1.0, 2.0, 3.0], use_resource=resource)
    return tf.cond(p, lambda: tf.nn.relu(x * v + b) * v, lambda: b / (x * x + 1.0) * v)


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("build", [switched, cond], ids=lambda build: build.__name__)
def test_a_conditional_trains_as_in_tensorflow_on_both_sides(build, optimizer, kind, tmp_path):
    with tf.Graph().as_default() as graph:
        loss = tf.reduce_sum(build(kind == "resource"), name="loss")
        train, init = OPTIMIZERS[optimizer]().minimize(loss), tf.global_variables_initializer()
        state = [v.read_value() if kind == "resource" else v for v in tf.global_variables()]
        names, jobs, expected = [v.name for v in state], [], []
        tf.train.export_meta_graph(str(tmp_path / "model.meta"))
        with session(graph) as tensorflow:
            for side in (False, True):
                feeds = {"x:0": np.array([1, 2, 3], np.float32), "p:0": np.array(side)}
                tensorflow.run(init)
                for _ in range(3):
                    tensorflow.run(train, feeds)
                expected.append(tensorflow.run(state))
                jobs.append(Job(tmp_path / "model.meta", names, tmp_path / str(side), init=init.name,
                                targets=[train.name], steps=3, feeds=feeds))
    run_jobs(jobs, tmp_path)
    for job, values in zip(jobs, expected):
        assert job.error is None, job.error
        for name, theirs in zip(names, values):
            assert (why := difference(job.values[name], theirs)) is None, f"{job.out.name}: {name} is {why}"
