"""Meta graphs under scopes, both ways: TensorFlow's imported by Runnel, trained and exported, and read by TensorFlow again.

Exceptions are the rows of "Differs from TensorFlow" in graph/README.md: `shared_name`, frames that no while_context
lists, strings in collections, inputs to wait for that are unbound, the device of a node that is colocated.
"""
import subprocess

import numpy as np
import pytest

from oracle import BUILD, GOLDEN, session, tf
from tensorflow.core.protobuf import control_flow_pb2, meta_graph_pb2
from test_saver import KINDS, assert_close, train_in_tensorflow, values

CONTEXTS = {"cond_context": control_flow_pb2.CondContextDef, "while_context": control_flow_pb2.WhileContextDef}
UNCOMPARED = {"_output_shapes", "_has_manual_control_dependencies"}  # inferred anew; of TensorFlow 2 alone
METAS = ["meta/kitchen", "meta/dense", "linear_ref/linear.ckpt-100", "linear_resource/linear.ckpt-100",
         "partitioned/part.ckpt", "sharded/shard.ckpt-7"]


def scope_graph(*arguments):
    done = subprocess.run([str(BUILD / "tests/interop/scope_graph"), *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def imported(path, scope=None, input_map=None):
    """The graph, and the saver made of it."""
    graph = tf.Graph()
    with graph.as_default():
        saver = tf.train.import_meta_graph(str(path), import_scope=scope, input_map=input_map)
    return graph, saver


def exported(graph, saver):
    with graph.as_default():
        return tf.train.export_meta_graph(saver_def=saver.saver_def if saver else None)


def same_attr(key, mine, theirs, name):
    """Equal, or of those that differ by intent, or a constant of equal values in the other short form."""
    if mine == theirs or key == "frame_name" and mine.s.endswith(theirs.s):
        return True
    if key == "shared_name" and mine.s == name.encode() and name.endswith("/" + theirs.s.decode()):
        return True
    if not (mine.HasField("tensor") and theirs.HasField("tensor")):
        return False
    mine, theirs = tf.make_ndarray(mine.tensor), tf.make_ndarray(theirs.tensor)
    return mine.dtype == theirs.dtype and mine.shape == theirs.shape and (mine == theirs).all()


def assert_same_nodes(ours, theirs):
    mine = {node.name: node for node in ours.node}
    assert mine.keys() == {node.name for node in theirs.node}
    for node in theirs.node:
        other = mine[node.name]
        assert (other.op, sorted(other.input)) == (node.op, sorted(node.input)), node.name
        assert other.device == node.device or not other.device and "_class" in node.attr, node.name
        assert [i for i in other.input if i[0] != "^"] == [i for i in node.input if i[0] != "^"]
        assert other.attr.keys() - UNCOMPARED == node.attr.keys() - UNCOMPARED, node.name
        for key, value in node.attr.items():
            if key not in UNCOMPARED:
                assert same_attr(key, other.attr[key], value, node.name), (node.name, key)


def items(meta, key):
    """Comparable; messages that hold maps have many forms as bytes."""
    collection = meta.collection_def[key]
    return [CONTEXTS[key].FromString(item) for item in collection.bytes_list.value] if key in CONTEXTS else collection


def assert_same_collections(ours, theirs):
    mine, other = ours.collection_def, theirs.collection_def
    assert sorted(mine) == sorted(other)
    for key in other:
        if key == "my_strings":
            assert list(mine[key].bytes_list.value) == [b"text"]
        else:
            assert items(ours, key) == items(theirs, key), key
    assert ours.saver_def == theirs.saver_def


@pytest.mark.parametrize("name", METAS)
def test_an_import_under_a_scope_is_tensorflows_node_for_node(name, tmp_path):
    source = GOLDEN / (name + ".meta")
    scope_graph("move", source, "m2", tmp_path / "ours.meta")
    written = meta_graph_pb2.MetaGraphDef()
    written.ParseFromString((tmp_path / "ours.meta").read_bytes())
    theirs = exported(*imported(source, "m2"))
    assert_same_nodes(written.graph_def, theirs.graph_def)
    assert_same_collections(written, theirs)


@pytest.mark.parametrize("name", ["meta/kitchen", "linear_resource/linear.ckpt-100"])
def test_tensorflow_imports_our_file_under_a_scope_of_its_own(name, tmp_path):
    source = GOLDEN / (name + ".meta")
    scope_graph("move", source, "m2", tmp_path / "ours.meta")
    ours, theirs = exported(*imported(tmp_path / "ours.meta", "t")), exported(*imported(source, "t/m2"))
    assert {node.name for node in ours.graph_def.node} == {node.name for node in theirs.graph_def.node}
    assert ours.saver_def == theirs.saver_def
    for key in ("variables", "trainable_variables", "cond_context", "while_context", "queue_runners"):
        assert items(ours, key) == items(theirs, key), key


@pytest.mark.parametrize("kind", KINDS)
def test_training_goes_on_under_scopes_there_and_here(kind, tmp_path):
    theirs = train_in_tensorflow(kind, tmp_path / "theirs", 10)
    after_20, after_30 = (values(train_in_tensorflow(kind, tmp_path / "whole", steps)) for steps in (20, 30))
    scope_graph("train", theirs, "m", "Adam", 10, tmp_path / "ours")
    assert_close(values(tmp_path / "ours"), after_20)  # under the names of the file
    for meta, names in (("ours.meta", "t/m"), ("ours-scope.meta", "t")):
        graph, saver = imported(tmp_path / meta, "t")
        with graph.as_default(), session() as s:
            saver.restore(s, str(tmp_path / "ours"))
            for _ in range(10):
                s.run(names + "/Adam")
            saver.save(s, str(tmp_path / "back"))
        assert_close(values(tmp_path / "back"), after_30)


@pytest.mark.parametrize("kind", KINDS)
def test_a_scope_cut_out_is_the_graph_that_was_put_in(kind, tmp_path):
    theirs = train_in_tensorflow(kind, tmp_path / "theirs", 1)
    scope_graph("train", theirs, "m", "Adam", 0, tmp_path / "ours")
    ours, before = exported(*imported(tmp_path / "ours-scope.meta")), exported(*imported(theirs + ".meta"))
    assert_same_nodes(ours.graph_def, before.graph_def)
    assert_same_collections(ours, before)


def test_what_an_exported_scope_leaves_unbound_is_what_tensorflow_leaves(tmp_path):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [3], name="x")
        with tf.name_scope("hid"):
            w = tf.Variable(np.float32([1, 2, 3]), name="w")
            tf.add_to_collection("ys", tf.multiply(w, x, name="y"))
            with tf.control_dependencies([x]):
                tf.no_op(name="c")
        tf.train.export_meta_graph(str(tmp_path / "all.meta"))
        theirs = tf.train.export_meta_graph(export_scope="hid")
    scope_graph("cut", tmp_path / "all.meta", "hid", tmp_path / "hid.meta")
    ours = meta_graph_pb2.MetaGraphDef()
    ours.ParseFromString((tmp_path / "hid.meta").read_bytes())
    assert_same_nodes(ours.graph_def, theirs.graph_def)
    assert list(ours.collection_def["unbound_inputs"].bytes_list.value) == [b"$unbound_inputs_x", b"^$unbound_inputs_x"]
    assert list(theirs.collection_def["unbound_inputs"].bytes_list.value) == [b"$unbound_inputs_x"]
    theirs.collection_def["unbound_inputs"].CopyFrom(ours.collection_def["unbound_inputs"])
    assert_same_collections(ours, theirs)
    with tf.Graph().as_default(), session() as s:
        feed = tf.constant(np.float32([10, 20, 30]))
        tf.train.import_meta_graph(str(tmp_path / "hid.meta"), import_scope="q",
                                   input_map={"$unbound_inputs_x": feed, "^$unbound_inputs_x": feed})
        s.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(s.run("q/y:0"), [10, 40, 90])
