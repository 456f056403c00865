"""Queue-fed graphs beside TensorFlow's: the nodes that each producer adds, and each side's queue runners run by the other.

Exceptions are the rows of "Differs from TensorFlow" in train/input/README.md.
"""
import subprocess

import numpy as np
import pytest

from oracle import BUILD, session, tf
from test_meta_graphs import UNCOMPARED, same_attr

X = [[1.0, 2.0], [3.0, 4.0]]


def pair():
    return tf.constant([1, 2], name="y")


def ordered_batch():
    next_one = tf.train.range_input_producer(10, num_epochs=1, shuffle=False).dequeue()
    tf.train.batch([next_one], 4, allow_smaller_final_batch=True)


def epochs():
    y = pair()
    tf.train.limit_epochs(y, 3)
    tf.train.limit_epochs(y, 3, name="lim")


CASES = {
    "strings": lambda: tf.train.string_input_producer(["a", "b"]),
    "named strings": lambda: tf.train.string_input_producer(
        ["a", "b"], num_epochs=2, shuffle=False, capacity=5, shared_name="s", name="files").dequeue(name="next"),
    "range": lambda: tf.train.range_input_producer(7, num_epochs=3, seed=5),
    "slices": lambda: tf.train.slice_input_producer([tf.constant(X, name="x"), pair()], num_epochs=2, shuffle=False),
    "rows": lambda: tf.train.input_producer(tf.constant(X, name="x"), num_epochs=1, shuffle=False),
    "named rows": lambda: tf.train.input_producer(
        tf.placeholder(tf.float32, [None, 2], name="x"), element_shape=[2], summary_name="full", name="foo"),
    "epochs": epochs,
    "batch": lambda: tf.train.batch([tf.constant(1.0, name="x"), pair()], 4, num_threads=3),
    "ordered batch": ordered_batch,
    "batch of many": lambda: tf.train.batch(
        [tf.placeholder(tf.float32, [None, 2], name="x")], 4, capacity=9, enqueue_many=True,
        allow_smaller_final_batch=True, shared_name="s", name="b"),
    "padded batch": lambda: tf.train.batch([tf.placeholder(tf.float32, [None], name="x")], 4, dynamic_pad=True),
    "batch by name": lambda: tf.train.batch({"q": tf.constant(1.0, name="x"), "b": pair()}, 4),
    "join": lambda: tf.train.batch_join([[tf.constant(1.0, name="x")], [tf.constant(2.0, name="y")]], 4),
    "shuffled": lambda: tf.train.shuffle_batch(
        [tf.constant(1.0, name="x")], 4, capacity=50, min_after_dequeue=10, num_threads=2),
    "seeded": lambda: tf.train.shuffle_batch(
        [tf.placeholder(tf.float32, name="x")], 4, capacity=50, min_after_dequeue=10, seed=7, shapes=[[2]],
        allow_smaller_final_batch=True, name="sb"),
    "shuffled join": lambda: tf.train.shuffle_batch_join(
        [[tf.constant(1.0, name="x")], [tf.constant(2.0, name="y")]], 4, capacity=50, min_after_dequeue=10),
}
SEEDED = {"range", "seeded"}  # elsewhere seeds are of our own making
RUN = {"named strings": "next:0", "slices": "input_producer/GatherV2:0", "ordered batch": "batch:0"}


def program(*arguments):
    done = subprocess.run(
        [str(BUILD / "tests/interop/input_graphs"), *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def theirs(case):
    graph = tf.Graph()
    with graph.as_default():
        CASES[case]()
    return tf.train.export_meta_graph(graph=graph)


def ours(case, folder):
    path = folder / "ours.meta"
    program("write", case, path)
    meta = tf.MetaGraphDef()
    meta.ParseFromString(path.read_bytes())
    return meta


@pytest.mark.parametrize("case", CASES)
def test_a_producer_adds_the_same_nodes(case, tmp_path):
    mine = {node.name: node for node in ours(case, tmp_path).graph_def.node}
    nodes = [node for node in theirs(case).graph_def.node if not node.name.endswith("Assert/Const")]
    assert sorted(mine) == sorted(node.name for node in nodes)
    for node in nodes:
        other = mine[node.name]
        assert (other.op, list(other.input), other.device) == (node.op, list(node.input), node.device), node.name
        left_out = UNCOMPARED | (set() if case in SEEDED else {"seed", "seed2"})
        left_out |= {"value"} if node.name.endswith("data_0") else set()  # the text is ours
        assert other.attr.keys() - UNCOMPARED == node.attr.keys() - UNCOMPARED, node.name
        for key in node.attr.keys() - left_out:
            assert same_attr(key, other.attr[key], node.attr[key], node.name), (node.name, key)


@pytest.mark.parametrize("case", CASES)
def test_a_producer_adds_to_the_same_collections(case, tmp_path):
    mine, other = ours(case, tmp_path).collection_def, theirs(case).collection_def
    assert sorted(mine) == sorted(other)
    for key in other:
        assert mine[key] == other[key], key


@pytest.mark.parametrize("case", CASES)
def test_shapes_are_those_of_tensorflow(case, tmp_path):
    graphs = tf.Graph(), tf.Graph()
    with graphs[0].as_default():
        tf.import_graph_def(ours(case, tmp_path).graph_def, name="")
    with graphs[1].as_default():
        CASES[case]()
    for operation in graphs[0].get_operations():
        other = graphs[1].get_operation_by_name(operation.name)
        assert [str(t.shape) for t in operation.outputs] == [str(t.shape) for t in other.outputs], operation.name


def run_in_tensorflow(path, fetch):
    """What `input_graphs run` prints, of TensorFlow."""
    graph = tf.Graph()
    with graph.as_default():
        tf.train.import_meta_graph(str(path))
        init = tf.local_variables_initializer()
    lines = []
    with session(graph) as sess, graph.as_default():
        sess.run(init)
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        lines += [f"thread {thread.name}" for thread in threads]
        with coord.stop_on_exception():
            while not coord.should_stop():
                lines.append(f"value {shown(sess.run(fetch))}")
        coord.join(threads)
    return lines + ["input exhausted"]


def shown(value):
    """As Tensor::text has it."""
    value = np.asarray(value)
    kind = "string" if value.dtype.kind in "OS" else {"float32": "float"}.get(value.dtype.name, value.dtype.name)
    items = [f'"{item.decode()}"' if isinstance(item, bytes) else f"{item:g}" for item in value.ravel()]
    return f"{kind}[{','.join(map(str, value.shape))}] [{', '.join(items)}]"


@pytest.mark.parametrize("case", RUN)
@pytest.mark.parametrize("writer", ["ours", "theirs"])
def test_each_side_runs_the_queue_runners_of_the_other(case, writer, tmp_path):
    path = tmp_path / "graph.meta"
    if writer == "ours":
        program("write", case, path)
    else:
        path.write_bytes(theirs(case).SerializeToString())
    mine = program("run", path, RUN[case])
    assert len(mine) > 4
    assert mine == run_in_tensorflow(path, RUN[case])


def write_records(path):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for i, words in enumerate((["a", "b"], [], ["c"], ["d", "e", "f"], ["g"])):
            example = tf.train.Example()
            example.features.feature["x"].float_list.value.extend([i, i / 4])
            example.features.feature["words"].bytes_list.value.extend(word.encode() for word in words)
            writer.write(example.SerializeToString())


def one_by_one(value, features):
    parsed = tf.parse_single_example(value, features)
    words = tf.sparse_tensor_to_dense(parsed["words"], default_value="-")
    return tf.train.batch([parsed["x"], words], 2, dynamic_pad=True, allow_smaller_final_batch=True)


def in_batches(value, features):
    parsed = tf.parse_example(tf.train.batch([value], 2, allow_smaller_final_batch=True), features)
    return parsed["x"], tf.sparse.to_dense(parsed["words"])


@pytest.mark.parametrize("parse", [one_by_one, in_batches])
def test_records_are_parsed_from_a_graph_of_today(parse, tmp_path):
    write_records(tmp_path / "records")
    graph = tf.Graph()
    with graph.as_default():
        files = tf.train.string_input_producer([str(tmp_path / "records")], num_epochs=1, shuffle=False)
        _, value = tf.TFRecordReader().read(files)
        fetches = parse(value, {"x": tf.FixedLenFeature([2], tf.float32), "words": tf.VarLenFeature(tf.string)})
        ops = {operation.type for operation in graph.get_operations()}
        assert {"ParseExampleV2", "SparseToDense"} <= ops
        path = tmp_path / "graph.meta"
        tf.train.export_meta_graph(str(path))
    for fetch in fetches:
        mine = program("run", path, fetch.name)
        assert sum(line.startswith("value ") for line in mine) == 3
        assert mine == run_in_tensorflow(path, fetch.name)
