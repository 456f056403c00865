"""Graphs of TensorFlow that went through Runnel, read by TensorFlow. RUNNEL_BUILD names the build folder."""
import os
import pathlib
import subprocess

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import meta_graph_pb2

tf.disable_v2_behavior()
ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/golden"
BUILD = pathlib.Path(os.environ.get("RUNNEL_BUILD", ROOT / "build"))
METAS = ["meta/kitchen", "meta/stripped", "meta/dense", "linear_ref/linear.ckpt-100", "linear_resource/linear.ckpt-100",
         "partitioned/part.ckpt", "sharded/shard.ckpt-7"]


def convert(source, target):
    done = subprocess.run([BUILD / "tests/interop/convert_graph", source, target], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return target


def read_meta(path):
    meta = meta_graph_pb2.MetaGraphDef()
    meta.ParseFromString(pathlib.Path(path).read_bytes())
    return meta


def same_attr(mine, theirs):
    """Equal, or constants of equal values: of those, each side has its own short form."""
    if mine == theirs:
        return True
    if not (mine.HasField("tensor") and theirs.HasField("tensor")):
        return False
    mine, theirs = tf.make_ndarray(mine.tensor), tf.make_ndarray(theirs.tensor)
    return mine.dtype == theirs.dtype and mine.shape == theirs.shape and (mine == theirs).all() and len(set(mine.ravel())) == 1


def imported(path):
    graph = tf.Graph()
    with graph.as_default():
        tf.train.import_meta_graph(str(path))
    return graph


@pytest.mark.parametrize("name", METAS)
def test_a_meta_means_the_same_to_tensorflow_after_a_round_trip(name, tmp_path):
    source = GOLDEN / (name + ".meta")
    ours = imported(convert(source, tmp_path / "out.meta"))
    theirs = imported(source)
    assert {op.name for op in ours.get_operations()} == {op.name for op in theirs.get_operations()}
    for op in theirs.get_operations():
        mine = ours.get_operation_by_name(op.name)
        assert mine.node_def.op == op.node_def.op
        assert [tensor.name for tensor in mine.inputs] == [tensor.name for tensor in op.inputs]
        assert {node.name for node in mine.control_inputs} == {node.name for node in op.control_inputs}
        assert mine.node_def.attr.keys() == op.node_def.attr.keys()
        for key, value in op.node_def.attr.items():
            assert same_attr(mine.node_def.attr[key], value), (op.name, key)
        for output, expected in zip(mine.outputs, op.outputs):
            assert str(output.shape) == str(expected.shape), output.name
    assert sorted(ours.get_all_collection_keys()) == sorted(theirs.get_all_collection_keys())
    for key in theirs.get_all_collection_keys():
        assert [str(item) for item in ours.get_collection(key)] == [str(item) for item in theirs.get_collection(key)] or \
            len(ours.get_collection(key)) == len(theirs.get_collection(key))


@pytest.mark.parametrize("name", METAS)
def test_every_shape_that_runnel_states_fits_tensorflows(name, tmp_path):
    """Shapes are inferred here by our own rules; stated wrongly they would make TensorFlow refuse the graph."""
    stated = {node.name: node.attr["_output_shapes"].list.shape for node in
              read_meta(convert(GOLDEN / (name + ".meta"), tmp_path / "out.meta")).graph_def.node}
    for node in read_meta(GOLDEN / (name + ".meta")).graph_def.node:
        for mine, theirs in zip(stated[node.name], node.attr["_output_shapes"].list.shape, strict=True):
            mine, theirs = tf.TensorShape(mine), tf.TensorShape(theirs)
            assert mine.is_compatible_with(theirs), (node.name, mine, theirs)
            assert mine.is_fully_defined() or not theirs.is_fully_defined(), node.name


def test_constants_have_their_values_after_a_round_trip(tmp_path):
    source = GOLDEN / "meta/consts.pb"
    graphs = []
    for path in (source, convert(source, tmp_path / "out.pb")):
        graph, definition = tf.Graph(), tf.GraphDef()
        definition.ParseFromString(path.read_bytes())
        with graph.as_default():
            tf.import_graph_def(definition, name="")
        graphs.append(graph)
    names = [op.outputs[0].name for op in graphs[0].get_operations()]
    values = [tf.Session(graph=graph).run(names) for graph in graphs]
    for name, theirs, ours in zip(names, *values):
        np.testing.assert_array_equal(theirs, ours, err_msg=name)


def test_tensorflow_trains_on_with_a_graph_that_went_through(tmp_path):
    values = []
    for path in (GOLDEN / "linear_ref/linear.ckpt-100.meta", convert(GOLDEN / "linear_ref/linear.ckpt-100.meta", tmp_path / "out.meta")):
        with tf.Graph().as_default(), tf.Session() as session:
            saver = tf.train.import_meta_graph(str(path))
            saver.restore(session, str(GOLDEN / "linear_ref/linear.ckpt-100"))
            for _ in range(3):
                session.run("GradientDescent")
            values.append(session.run(["weight:0", "biase:0"]))
    np.testing.assert_array_equal(values[0], values[1])
