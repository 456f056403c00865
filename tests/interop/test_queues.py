"""Queues: TensorFlow's graphs run by us and ours by TensorFlow, the same steps in both; and the nodes of our builders."""
import random
import subprocess

import numpy as np
import pytest

from oracle import BUILD, session, tf
from queue_cases import KINDS, PIPELINES, used, used_old

RUN_STEPS = BUILD / "tests/interop/run_steps"
BLOCKS = "DeadlineExceeded"


def run_here(model, script, folder):
    (folder / "script").write_text("".join(" ".join(names) + "\n" for names in script))
    done = subprocess.run([RUN_STEPS, model, folder / "script"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def as_text(value):
    if value is None:
        return "None"
    return " ".join(item.decode() if isinstance(item, bytes) else str(int(item)) for item in np.ravel(value))


def run_there(graph, script, ours):
    """The same lines. What waits here waits there, but not for long; nothing else is hurried: what puts many puts those that fit."""
    out = []
    with session(graph) as tensorflow:
        for names, line in zip(script, ours, strict=True):
            waits = 1000 if any("many" in name.lower() for name in names) else 60
            options = tf.RunOptions(timeout_in_ms=waits if line == BLOCKS else 60000)
            try:
                out.append(" | ".join(as_text(value) for value in tensorflow.run(names, options=options)))
            except tf.errors.OpError as error:
                out.append(type(error).__name__.removesuffix("Error"))
    return out


def same_steps(graph, model, what, folder, seed):
    """Forty steps drawn at random. A batch that waits is left out: TensorFlow loses what it had taken, Runnel does not."""
    draw = random.Random(seed)
    kinds = ["put", "put many", "take", "take many", "take up to", "size", "is closed"] * 6 + ["close", "cancel"]
    script = [what["put"] + what["take"]] + [what[kind] for kind in draw.choices(kinds, k=40)]
    script += [what["close"], what["take up to"], what["take"]]
    batches = (what["take many"], what["take up to"])
    for _ in range(2):
        ours = run_here(model, script, folder)
        script = [names for names, line in zip(script, ours, strict=True) if not (names in batches and line == BLOCKS)]
    ours = run_here(model, script, folder)
    theirs = run_there(graph, script, ours)
    for number, (names, here, there) in enumerate(zip(script, ours, theirs, strict=True)):
        assert here == there, f"step {number}, {names}: {here}, TensorFlow's is {there}"


@pytest.mark.parametrize("kind", KINDS + ("old",))
def test_a_queue_of_tensorflow_does_the_same_here(kind, tmp_path):
    for seed in range(2):
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(5)
            what = used_old() if kind == "old" else used(kind)
            (tmp_path / "graph.pb").write_bytes(graph.as_graph_def().SerializeToString())
            same_steps(graph, tmp_path / "graph.pb", what, tmp_path, seed)


@pytest.mark.parametrize("build", PIPELINES, ids=lambda build: build.__name__)
def test_an_input_pipeline_of_tensorflow_gives_the_same_here(build, tmp_path):
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(5)
        script = build()
        (tmp_path / "graph.pb").write_bytes(graph.as_graph_def().SerializeToString())
        ours = run_here(tmp_path / "graph.pb", script, tmp_path)
        assert ours == run_there(graph, script, ours)


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    out = tmp_path_factory.mktemp("queues") / "ours.pb"
    done = subprocess.run([RUN_STEPS, "--write", out], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


def theirs():
    """TensorFlow's graph of the same queues, and what can be done to them."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(5)
        with tf.name_scope("in"):
            what = {kind: used(kind) for kind in KINDS}
    return graph, what


def test_our_queues_run_in_tensorflow(ours, tmp_path):
    _, what = theirs()
    definition = tf.GraphDef.FromString(ours.read_bytes())
    for kind in KINDS:
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(definition, name="")
            same_steps(graph, ours, what[kind], tmp_path, 3)


def plain(node):
    """What a node says, constants as values."""
    attrs = {key: value.SerializeToString(deterministic=True) for key, value in node.attr.items()}
    if node.op == "Const":
        attrs["value"] = tf.make_ndarray(node.attr["value"].tensor).tolist()
    return node.op, list(node.input), node.device, attrs


def test_our_builders_make_tensorflows_nodes(ours):
    graph, _ = theirs()
    here = {node.name: plain(node) for node in tf.GraphDef.FromString(ours.read_bytes()).node}
    there = {node.name: plain(node) for node in graph.as_graph_def().node}
    renamed = {"in/p": "in/priority_queue_enqueue/component_0", "in/ps": "in/priority_queue_EnqueueMany/component_0"}
    there = {renamed.get(name, name): (op, [renamed.get(i, i) for i in inputs], *rest)
             for name, (op, inputs, *rest) in there.items()}
    there = {name: tuple(rest) for name, rest in there.items()}
    assert sorted(here) == sorted(there)
    for name, said in here.items():
        assert said == there[name], name
