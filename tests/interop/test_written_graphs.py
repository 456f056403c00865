"""Graphs that Runnel's builders made, in TensorFlow: the same values, our gradients run there, and TensorFlow's own."""
import subprocess

import numpy as np
import pytest

from oracle import BUILD, difference, session, tf

NAMES = [stem + kind for stem in ("linear", "dependent", "adam", "momentum") for kind in ("_ref", "_resource")]
NAMES += ["conditional_true", "conditional_false", "movement_known", "movement_unknown", "arithmetic_known", "arithmetic_dims",
          "random"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("graphs")
    done = subprocess.run([BUILD / "tests/interop/write_graphs", out], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


def read(path):
    """{key: rows of words} of what write_graphs says of a graph."""
    out = {}
    for line in path.read_text().splitlines():
        key, *words = line.split(" ")
        out.setdefault(key, []).append(words)
    return out


@pytest.mark.parametrize("name", NAMES)
def test_tensorflow_gives_the_values_and_gradients_of_our_graph(name, folder):
    what = read(folder / f"{name}.txt")
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(str(folder / f"{name}.meta"))
        expected = [(tensor, np.load(path)) for tensor, path in what["fetch"]]
        if "y" in what:
            xs = [graph.get_tensor_by_name(tensor) for tensor, _ in what["x"]]
            theirs = tf.gradients(graph.get_tensor_by_name(what["y"][0][0]), xs)
            for gradient, (tensor, path) in zip(theirs, what["x"]):
                assert gradient is not None, f"TensorFlow finds no way from {tensor}"
                expected.append((tf.convert_to_tensor(gradient), np.load(path)))
        feeds = {tensor: np.load(path) for tensor, path in what.get("feed", [])}
        with session(graph) as tensorflow:
            tensorflow.run(what["init"][0][0])
            for _ in range(int(what["steps"][0][0])):
                tensorflow.run(what["target"][0][0], feeds)
            values = tensorflow.run([tensor for tensor, _ in expected], feeds)
    for (tensor, ours), value in zip(expected, values, strict=True):
        assert (why := difference(ours, value)) is None, f"{tensor} is {why}"


def test_every_graph_has_a_test(folder):
    assert sorted(path.stem for path in folder.glob("*.txt")) == sorted(NAMES)
