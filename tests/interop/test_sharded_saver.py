"""Savers over several devices and savers of partitioned variables: checkpoints and .meta files both ways, and all of
Saver's arguments that shape a file. The variables are those of save_sharded.cc.
"""
import glob
import subprocess

import numpy as np
import pytest

from oracle import BUILD, tf
from test_saver_arguments import meta_graph, nodes

WHOLE = {"a": np.float32([1, 2]), "b": np.float32([5]), "c": np.int32([[3, 4]]), "d": np.float32(6)}
ROWS = np.arange(10, dtype=np.float32).reshape(5, 2)
PARTS = {"p": ROWS, "r": ROWS}
KINDS = ["sharded", "parts", "both"]


def session():
    return tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))


def runnel(program, *arguments):
    done = subprocess.run([str(BUILD / program), *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def build(kind):
    if kind == "sharded":
        with tf.device("/cpu:0"):
            tf.Variable(WHOLE["a"], name="a", use_resource=False)
            tf.Variable(WHOLE["c"], name="c", use_resource=False)
        with tf.device("/cpu:1"):
            tf.Variable(WHOLE["b"], name="b", use_resource=False)
            tf.Variable(WHOLE["d"], name="d", use_resource=True)
        return
    for name, resource in (("p", False), ("r", True)):
        places = iter(["/cpu:0", "/cpu:1"])
        with tf.device(lambda op: next(places) if op.type in ("VariableV2", "VarHandleOp") else op.device or "/cpu:0"):
            tf.get_variable(name, shape=[5, 2], partitioner=tf.fixed_size_partitioner(2), use_resource=resource,
                            initializer=lambda shape, dtype, partition_info=None: 2.0 * partition_info.var_offset[0]
                            + tf.reshape(tf.range(float(np.prod(shape))), shape))


def saver(kind, **arguments):
    return tf.train.Saver(sharded=kind != "parts", **arguments)


def values(prefix):
    reader = tf.train.NewCheckpointReader(str(prefix))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def assert_equal(got, wanted):
    assert sorted(got) == sorted(wanted)
    for name in wanted:
        assert np.asarray(got[name]).dtype == wanted[name].dtype, name
        np.testing.assert_array_equal(got[name], wanted[name], err_msg=name)


def wanted(kind):
    return WHOLE if kind == "sharded" else PARTS


def doubled(kind):
    return {name: 2 * value for name, value in wanted(kind).items()}


def double_all(s):
    for v in tf.global_variables():
        s.run(tf.assign(v, 2 * s.run(v)))


def save_in_tensorflow(kind, prefix):
    with tf.Graph().as_default(), session() as s:
        build(kind)
        one = saver(kind)
        s.run(tf.global_variables_initializer())
        double_all(s)
        one.save(s, str(prefix))


def data_files(prefix):
    return len(glob.glob(f"{prefix}.data-*"))


@pytest.mark.parametrize("kind", KINDS)
def test_tensorflow_restores_what_our_saver_wrote(tmp_path, kind):
    runnel("tests/interop/save_sharded", kind, "-", tmp_path / "ours")
    assert_equal(values(tmp_path / "ours"), wanted(kind))
    assert data_files(tmp_path / "ours") == (1 if kind == "parts" else 2)
    with tf.Graph().as_default(), session() as s:
        build(kind)
        saver(kind).restore(s, str(tmp_path / "ours"))
        double_all(s)
        saver(kind).save(s, str(tmp_path / "theirs"))
    assert_equal(values(tmp_path / "theirs"), doubled(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_our_saver_restores_what_tensorflows_wrote(tmp_path, kind):
    save_in_tensorflow(kind, tmp_path / "theirs")
    runnel("tests/interop/save_sharded", kind, tmp_path / "theirs", tmp_path / "ours")
    assert_equal(values(tmp_path / "ours"), doubled(kind))
    assert (tmp_path / "ours.index").read_bytes() == (tmp_path / "theirs.index").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_tensorflow_saves_and_restores_through_our_graph(tmp_path, kind):
    runnel("tests/interop/save_sharded", kind, "-", tmp_path / "ours")
    with tf.Graph().as_default(), session() as s:
        one = tf.train.import_meta_graph(str(tmp_path / "ours.meta"))
        one.restore(s, str(tmp_path / "ours"))
        double_all(s)
        one.save(s, str(tmp_path / "theirs"), write_meta_graph=False)
        s.run(tf.global_variables_initializer())
        one.restore(s, str(tmp_path / "theirs"))
        assert s.run(tf.global_variables()[0]).ravel()[1] in (2, 4)
        if kind != "sharded":  # the parts are known as such, so that a new Saver saves them alike
            tf.train.Saver().save(s, str(tmp_path / "new"))
            assert_equal(values(tmp_path / "new"), doubled(kind))
    assert_equal(values(tmp_path / "theirs"), doubled(kind))
    assert data_files(tmp_path / "theirs") == data_files(tmp_path / "ours")


@pytest.mark.parametrize("kind", KINDS)
def test_runnel_saves_and_restores_through_tensorflows_graph(tmp_path, kind):
    save_in_tensorflow(kind, tmp_path / "theirs")
    runnel("train/cli/runnel", "run", tmp_path / "theirs.meta", "--restore", tmp_path / "theirs", "--save", tmp_path / "ours")
    assert_equal(values(tmp_path / "ours"), doubled(kind))
    assert data_files(tmp_path / "ours") == data_files(tmp_path / "theirs")


def test_tensorflow_reads_a_sharded_save_over_another(tmp_path):
    for _ in range(2):
        runnel("tests/interop/save_sharded", "sharded", "-", tmp_path / "ours")
    assert sorted(path.name for path in tmp_path.glob("ours.data*")) == ["ours.data-00000-of-00003", "ours.data-00001-of-00003"]
    assert_equal(values(tmp_path / "ours"), WHOLE)
    with tf.Graph().as_default(), session() as s:
        build("sharded")
        one = saver("sharded")
        one.restore(s, str(tmp_path / "ours"))
        one.save(s, str(tmp_path / "ours"))
        one.restore(s, str(tmp_path / "ours"))
    assert_equal(values(tmp_path / "ours"), WHOLE)


def test_the_nodes_of_a_saver_over_tasks_are_tensorflows(tmp_path):
    runnel("tests/interop/save_sharded", "jobs", "-", tmp_path / "ours.meta")
    with tf.Graph().as_default():
        for i, device in enumerate(["/job:ps/task:1", "/job:ps/replica:0/task:0/cpu:1", "/job:worker/task:0/gpu:2", ""]):
            for kind in (False, True):
                with tf.device(device):
                    tf.Variable(np.float32([1, 2]), name=f"v{2 * i + kind}", use_resource=kind)
        theirs = tf.train.Saver(sharded=True, reshape=True).export_meta_graph()
    assert nodes(meta_graph(tmp_path / "ours.meta"), "save") == nodes(theirs, "save")
