"""Checkpoints without a graph, and models that start from one: the answers, nodes and values of tf.train."""
import subprocess

import numpy as np
import pytest

from oracle import BUILD, GOLDEN, session, tf
from tensorflow.core.protobuf import meta_graph_pb2

NOT_TEXT = {"names.ckpt", "odd.ckpt"}  # hold names that are no UTF-8, which TensorFlow's Python cannot list
PREFIXES = sorted({path.with_suffix("") for path in GOLDEN.rglob("*.index") if path.stem not in NOT_TEXT})
FORMS = ["scope", "root", "names", "parts"]
NEWER = {"AssignVariableOp": {"validate_shape"}}  # attributes that came after 1.15


def ours(*words, check=True):
    done = subprocess.run([BUILD / "tests/interop/read_checkpoint", *map(str, words)], capture_output=True, text=True)
    assert not check or done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("prefix", PREFIXES, ids=lambda path: "-".join(path.relative_to(GOLDEN).parts))
def test_variables_are_listed_as_tensorflow_lists_them(prefix):
    dtypes = tf.train.NewCheckpointReader(str(prefix)).get_variable_to_dtype_map()
    theirs = [[name.encode().hex(), dtypes[name].as_datatype_enum, *shape] for name, shape in tf.train.list_variables(str(prefix))]
    listed = [line.split(" ") for line in ours("list", prefix).splitlines()]
    assert [[name, *map(int, numbers)] for name, *numbers in listed] == theirs


def build(kind):
    resource = kind == "resource"
    zeros = tf.zeros_initializer()
    with tf.variable_scope("new"):
        w = tf.get_variable("w", [2, 2], initializer=zeros, use_resource=resource)
        tf.get_variable("b", [2], initializer=zeros, use_resource=resource)
    with tf.variable_scope("top"):
        tf.get_variable("step", [], tf.int64, initializer=zeros, use_resource=resource)
    with tf.device("/device:CPU:0"):
        parts = tf.get_variable("p", [10, 2], initializer=zeros, use_resource=resource, partitioner=tf.fixed_size_partitioner(3))
    return w, list(parts)


def mapped(form, w, parts):
    return {"scope": {"old/": "new/"}, "root": {"old/": "new/", "/": "top/"}, "names": {"old/w": w, "old/b": "new/b"},
            "parts": {"p": parts}}[form]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    rng = np.random.default_rng(3)
    prefix = tmp_path_factory.mktemp("old") / "model.ckpt-3"
    with tf.Graph().as_default(), session() as s:
        for name, shape in (("old/w", (2, 2)), ("old/b", (2,)), ("p", (10, 2))):
            tf.Variable(rng.normal(size=shape).astype(np.float32), name=name, use_resource=False)
        tf.Variable(np.int64(12), name="step", use_resource=False)
        s.run(tf.global_variables_initializer())
        tf.train.Saver().save(s, str(prefix))
    return prefix


def nodes(graph_def):
    """What init_from_checkpoint added, but for notes that TensorFlow makes for itself."""
    listed = []
    for node in graph_def.node:
        if node.name.split("/")[0].split("_")[0] in ("checkpoint", "Assign", "Identity", "AssignVariableOp"):
            attrs = {key: value.SerializeToString(deterministic=True) for key, value in node.attr.items()
                     if not key.startswith("_has_") and key != "_output_shapes" and key not in NEWER.get(node.op, ())}
            listed.append((node.name, node.op, list(node.input), node.device, attrs))
    return listed


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["ref", "resource"])
def test_a_model_starts_from_a_checkpoint_by_tensorflows_nodes_and_values(checkpoint, tmp_path, kind, form):
    for path in (checkpoint, checkpoint.parent):  # by prefix, and by directory
        ours("init", path, kind, form, tmp_path / "ours")
        meta = meta_graph_pb2.MetaGraphDef.FromString((tmp_path / "ours.meta").read_bytes())
        with tf.Graph().as_default() as graph, session() as s:
            tf.train.init_from_checkpoint(str(path), mapped(form, *build(kind)))
            assert nodes(meta.graph_def) == nodes(graph.as_graph_def())
            s.run(tf.global_variables_initializer())
            reader = tf.train.NewCheckpointReader(str(tmp_path / "ours"))
            tf.train.Saver().save(s, str(tmp_path / "theirs"))
        other = tf.train.NewCheckpointReader(str(tmp_path / "theirs"))
        assert reader.get_variable_to_shape_map() == other.get_variable_to_shape_map()
        for name in reader.get_variable_to_shape_map():
            assert reader.get_tensor(name).tobytes() == other.get_tensor(name).tobytes(), name


@pytest.mark.parametrize("kind", ["ref", "resource"])
def test_meta_graphs_that_start_from_a_checkpoint_go_both_ways(checkpoint, tmp_path, kind):
    ours("init", checkpoint, kind, "parts", tmp_path / "ours")
    with tf.Graph().as_default(), session() as s:
        tf.train.import_meta_graph(str(tmp_path / "ours.meta"))
        s.run(tf.global_variables_initializer())
        saved = tf.train.load_variable(str(checkpoint), "p")
        assert s.run("p/part_0:0" if kind == "ref" else "p/part_0/Read/ReadVariableOp:0").tobytes() == saved[:4].tobytes()
    with tf.Graph().as_default(), session() as s:
        tf.train.init_from_checkpoint(str(checkpoint), mapped("scope", *build(kind)))
        init = tf.global_variables_initializer().name
        s.run(init)
        tf.train.Saver().save(s, str(tmp_path / "theirs"))
    subprocess.run([BUILD / "train/cli/runnel", "run", tmp_path / "theirs.meta", "--init", init, "--save", tmp_path / "again"], check=True,
                   stdout=subprocess.DEVNULL)
    assert tf.train.load_variable(str(tmp_path / "again"), "new/w").tobytes() == tf.train.load_variable(
        str(checkpoint), "old/w").tobytes()


def test_a_checkpoint_exists_and_is_removed_as_in_tensorflow(checkpoint, tmp_path):
    with tf.Graph().as_default(), session() as s:
        tf.Variable(1.0, name="v")
        s.run(tf.global_variables_initializer())
        for name in ("a", "b", "ab"):
            tf.train.Saver().save(s, str(tmp_path / name))
    for name in ("a", "none", "a.index"):
        assert ours("exists", tmp_path / name) == f"{int(tf.train.checkpoint_exists(str(tmp_path / name)))}\n"
    ours("remove", tmp_path / "a")
    tf.train.remove_checkpoint(str(tmp_path / "b"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ab.data-00000-of-00001", "ab.index", "ab.meta", "checkpoint"]
