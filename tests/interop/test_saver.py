"""Training that goes on elsewhere: checkpoints and .meta files both ways, with Adam's state and both kinds of variables.

The line is built alike in train_line.cc and here.
"""
import subprocess

import numpy as np
import pytest

from oracle import BUILD, session, tf

NAMES = ["b", "b/Adam", "b/Adam_1", "beta1_power", "beta2_power", "global_step", "w", "w/Adam", "w/Adam_1"]
KINDS = ["ref", "resource"]


def runnel(program, *arguments):
    subprocess.run([str(BUILD / program), *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def values(prefix):
    reader = tf.train.NewCheckpointReader(str(prefix))
    assert sorted(reader.get_variable_to_shape_map()) == NAMES
    return {name: reader.get_tensor(name) for name in NAMES}


def assert_close(a, b):
    for name in NAMES:
        assert np.asarray(a[name]).dtype == np.asarray(b[name]).dtype, name
        np.testing.assert_allclose(a[name], b[name], rtol=1e-5, atol=1e-7, err_msg=name)


def build(kind):
    """The kind of variables is a setting of the process: other tests take it to be ref."""
    if kind == "resource":
        tf.enable_resource_variables()
    try:
        return line()
    finally:
        tf.disable_resource_variables()


def line():
    w = tf.Variable(np.float32([0.5]), name="w")
    b = tf.Variable(np.float32([-0.25]), name="b")
    x, y = (tf.constant(np.float32(v)) for v in ([0.1, 0.7, -0.3, 1.1], [0.3, 0.4, 0.2, 0.9]))
    loss = tf.reduce_mean(tf.square(w * x + b - y), name="loss")
    return tf.train.AdamOptimizer(0.01).minimize(loss, global_step=tf.train.get_or_create_global_step())


def train_in_tensorflow(kind, prefix, steps):
    with tf.Graph().as_default(), session() as s:
        train, saver = build(kind), tf.train.Saver()
        s.run(tf.global_variables_initializer())
        for _ in range(steps):
            s.run(train)
        return saver.save(s, str(prefix), global_step=steps)


@pytest.mark.parametrize("kind", KINDS)
def test_tensorflow_trains_on_from_our_graph_and_checkpoint(tmp_path, kind):
    runnel("tests/interop/train_line", tmp_path / "ours", kind, 10)
    runnel("tests/interop/train_line", tmp_path / "whole", kind, 20)
    newest = tf.train.latest_checkpoint(str(tmp_path))
    assert newest == str(tmp_path / "whole-20")
    with tf.Graph().as_default(), session() as s:
        saver = tf.train.import_meta_graph(str(tmp_path / "ours-10.meta"))
        saver.restore(s, str(tmp_path / "ours-10"))
        for _ in range(10):
            s.run("Adam")
        saver.save(s, str(tmp_path / "theirs"), global_step=20)
    assert_close(values(tmp_path / "theirs-20"), values(tmp_path / "whole-20"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_graph_built_in_tensorflow_restores_our_checkpoint(tmp_path, kind):
    runnel("tests/interop/train_line", tmp_path / "ours", kind, 10)
    with tf.Graph().as_default(), session() as s:
        build(kind)
        tf.train.Saver().restore(s, str(tmp_path / "ours-10"))
        restored = s.run({v.op.name: v for v in tf.global_variables()})
    assert_close(restored, values(tmp_path / "ours-10"))


@pytest.mark.parametrize("kind", KINDS)
def test_runnel_trains_on_from_their_graph_and_checkpoint(tmp_path, kind):
    theirs = train_in_tensorflow(kind, tmp_path / "theirs", 10)
    whole = train_in_tensorflow(kind, tmp_path / "whole", 20)
    runnel("train/cli/runnel", "run", theirs + ".meta", "--restore", theirs, "--target", "Adam", "--steps", 10,
           "--save", tmp_path / "ours")
    assert_close(values(tmp_path / "ours"), values(whole))
    with tf.Graph().as_default(), session() as s:  # and TensorFlow reads the graph that went through both
        saver = tf.train.import_meta_graph(str(tmp_path / "ours.meta"))
        saver.restore(s, str(tmp_path / "ours"))
        s.run("Adam")
        assert s.run(tf.train.get_global_step()) == 21


def test_the_state_file_that_saver_wrote_is_read_by_tensorflow(tmp_path):
    runnel("tests/interop/train_line", tmp_path / "m", "ref", 3)
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert list(state.all_model_checkpoint_paths) == [str(tmp_path / "m-3")]
    assert len(state.all_model_checkpoint_timestamps) == 1
