"""Streaming metrics against tf.compat.v1.metrics over batches of 5, 0, 1 and 9 elements: names, variables, values.

`stream_metrics` builds and runs each metric and writes its graph; here TensorFlow does the same twice, with its own
metric and with our graph. The formulas of the batches are those of stream_metrics.cc.
"""
import json
import subprocess

import numpy as np
import pytest

from oracle import BUILD, difference, session, tf

m = tf.metrics
THRESHOLDS = [0.2, 0.5, 0.9]
# Of these TensorFlow's nodes have accidental names, or it has none.
OTHER_NAMES = {"mean_iou", "mean_iou_weighted", "confusion_matrix", "confusion_matrix_weighted"}


def same(value):
    return value, value


CASES = {
    "mean": lambda i: m.mean(i.xs),
    "mean_weighted": lambda i: m.mean(i.xs, i.weights),
    "mean_scalar_weight": lambda i: m.mean(i.xs, 0.5),
    "mean_named": lambda i: m.mean(i.classes, name="m"),
    "mean_column": lambda i: m.mean(i.table, i.column),
    "mean_short_weights": lambda i: m.mean(i.table, i.weights),
    "mean_long_weights": lambda i: m.mean(i.xs, i.column),
    "mean_tensor": lambda i: m.mean_tensor(tf.reshape(tf.reduce_sum(i.table, 0), [3])),
    "accuracy": lambda i: m.accuracy(i.classes, i.guesses),
    "accuracy_weighted": lambda i: m.accuracy(i.classes, i.guesses, i.weights),
    "accuracy_cast": lambda i: m.accuracy(i.classes, i.xs),
    "accuracy_squeezed": lambda i: m.accuracy(i.weights, i.column),
    "mean_squared_error": lambda i: m.mean_squared_error(i.ys, i.xs),
    "root_mean_squared_error": lambda i: m.root_mean_squared_error(i.ys, i.xs, i.weights),
    "mean_absolute_error": lambda i: m.mean_absolute_error(i.ys, i.xs),
    "mean_relative_error": lambda i: m.mean_relative_error(i.ys, i.xs, i.weights),
    "mean_cosine_distance": lambda i: m.mean_cosine_distance(i.table, i.table, 1),
    "percentage_below": lambda i: m.percentage_below(i.xs, 0.25),
    "true_positives": lambda i: m.true_positives(i.labels, i.predictions),
    "false_positives": lambda i: m.false_positives(i.labels, i.predictions),
    "true_negatives": lambda i: m.true_negatives(i.labels, i.predictions, i.weights),
    "false_negatives": lambda i: m.false_negatives(i.classes, i.guesses),
    "precision": lambda i: m.precision(i.labels, i.predictions),
    "precision_weighted": lambda i: m.precision(i.labels, i.predictions, i.weights),
    "recall": lambda i: m.recall(i.labels, i.predictions, name="r"),
    "auc": lambda i: m.auc(i.labels, i.scores),
    "auc_weighted": lambda i: m.auc(i.labels, i.scores, i.weights, num_thresholds=7),
    "auc_thresholds": lambda i: m.auc(i.labels, i.scores, thresholds=[0.7, 0.3]),
    "auc_minoring": lambda i: m.auc(i.labels, i.scores, summation_method="minoring"),
    "auc_majoring": lambda i: m.auc(i.labels, i.scores, summation_method="majoring"),
    "auc_pr": lambda i: m.auc(i.labels, i.scores, curve="PR"),
    "auc_pr_careful": lambda i: m.auc(i.labels, i.scores, curve="PR", summation_method="careful_interpolation"),
    "auc_pr_minoring": lambda i: m.auc(i.labels, i.scores, curve="PR", summation_method="minoring"),
    "true_positives_at_thresholds": lambda i: m.true_positives_at_thresholds(i.labels, i.scores, THRESHOLDS),
    "false_positives_at_thresholds": lambda i: m.false_positives_at_thresholds(i.labels, i.scores, THRESHOLDS),
    "true_negatives_at_thresholds": lambda i: m.true_negatives_at_thresholds(i.labels, i.scores, THRESHOLDS),
    "false_negatives_at_thresholds": lambda i: m.false_negatives_at_thresholds(i.labels, i.scores, THRESHOLDS),
    "precision_at_thresholds": lambda i: m.precision_at_thresholds(i.labels, i.scores, THRESHOLDS, i.weights),
    "recall_at_thresholds": lambda i: m.recall_at_thresholds(i.labels, i.scores, THRESHOLDS),
    "mean_iou": lambda i: m.mean_iou(i.classes, i.guesses, 5),
    "mean_iou_weighted": lambda i: m.mean_iou(i.classes, i.guesses, 5, i.weights),
    "mean_per_class_accuracy": lambda i: m.mean_per_class_accuracy(i.classes, i.guesses, 5),
    "mean_per_class_accuracy_weighted": lambda i: m.mean_per_class_accuracy(i.classes, i.guesses, 5, i.weights),
    "confusion_matrix": lambda i: same(tf.confusion_matrix(i.classes, i.guesses, 4)),
    "confusion_matrix_weighted": lambda i: same(tf.confusion_matrix(i.classes, i.guesses, 4, tf.float32, weights=i.weights)),
}
TYPES = {"float32": "float", "float32_ref": "float_ref", "float64": "double", "float64_ref": "double_ref", "int32": "int32"}


class Inputs:
    def __init__(self):
        for name in ("labels", "predictions", "scores", "weights", "xs", "ys"):
            setattr(self, name, tf.placeholder(tf.float32, [None], name))
        for name in ("classes", "guesses"):
            setattr(self, name, tf.placeholder(tf.int32, [None], name))
        self.table = tf.placeholder(tf.float32, [None, 3], "table")
        self.column = tf.placeholder(tf.float32, [None, 1], "column")


def batch(n, first):
    k = np.arange(first, first + n, dtype=np.int64)
    cells = np.arange(first, first + 3 * n, dtype=np.int64)
    return {"labels:0": (k * 31 + 7) % 3 == 0, "predictions:0": (k * 17 + 3) % 4 < 2,
            "scores:0": (k * 7919 + 104729) % 1009 / 1009, "weights:0": k * 13 % 5 / 2, "classes:0": k * 13 % 4,
            "guesses:0": (k * 29 + k // 3) % 4, "xs:0": (k * 37 % 101 - 50) / 7, "ys:0": (k * 53 % 97 - 48) / 7,
            "table:0": (cells * 41 % 89 / 9).reshape(n, 3), "column:0": (k * 13 % 5 / 2).reshape(n, 1)}


def stream(graph, init, value, update_op):
    """Values before and after each batch, and the updates' results."""
    values, updates = [], []
    with session(graph) as tensorflow:
        tensorflow.run(init)
        for i, n in enumerate((5, 0, 1, 9)):
            feeds = batch(n, 100 * (i + 1))
            values.append(tensorflow.run(value, feeds))
            updates.append(tensorflow.run(update_op, feeds))
            values.append(tensorflow.run(value, feeds))
    return values, updates


def described(tensor):
    shape = tensor.shape
    dims = "<unknown>" if shape.rank is None else "[" + ",".join("?" if d is None else str(d) for d in shape.as_list()) + "]"
    return f"{tensor.name} {TYPES[tensor.dtype.name]}{dims}"


def listing(key):
    return [described(v).replace(":0 ", " ").replace("_ref", "") for v in tf.get_collection(key)]


def check(ours, theirs, what):
    assert len(ours) == len(theirs)
    for step, ((shape, numbers), value) in enumerate(zip(ours, theirs)):
        array = np.array(numbers, np.asarray(value).dtype).reshape(shape)
        why = difference(array, value)
        assert not why, f"{what} {step} is {why}"


@pytest.fixture(scope="module")
def streamed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("metrics")
    done = subprocess.run([BUILD / "tests/interop/stream_metrics", folder], capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return folder, {(line["case"], line["ranks"]): line for line in lines}


def test_every_metric_that_runnel_streams_is_compared(streamed):
    assert {name for name, _ in streamed[1]} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_metric_has_tensorflows_names_variables_and_values(name, streamed):
    folder, lines = streamed
    ours = lines[name, True]
    with tf.Graph().as_default() as graph:
        value, update_op = CASES[name](Inputs())
        if name not in OTHER_NAMES:
            assert [ours["value"], ours["update_op"]] == [described(value), described(update_op)]
        assert ours["local"] == listing("local_variables")
        assert ours["metric"] == listing("metric_variables")
        values, updates = stream(graph, tf.local_variables_initializer(), value, update_op)
    check(ours["values"], values, "value")
    check(ours["updates"], updates, "update")


@pytest.mark.parametrize("name", CASES)
def test_metric_of_inputs_of_unknown_rank_has_the_same_values(name, streamed):
    lines = streamed[1]
    if name == "mean_tensor":
        pytest.skip("its variables have the shape of its values")
    for key in ("values", "updates", "local"):
        assert lines[name, False][key] == lines[name, True][key]


@pytest.mark.parametrize("name", CASES)
def test_our_graph_of_a_metric_runs_in_tensorflow(name, streamed):
    folder, lines = streamed
    for ranks in (True, False):
        if (name, ranks) not in lines:
            continue
        line = lines[name, ranks]
        graph_def = tf.GraphDef.FromString((folder / f"{name}{'' if ranks else '.unknown'}.pb").read_bytes())
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(graph_def, name="")
            value, update_op = (graph.get_tensor_by_name(line[key].split()[0]) for key in ("value", "update_op"))
            values, updates = stream(graph, graph.get_operation_by_name(line["init"]), value, update_op)
        check(line["values"], values, "value")
        check(line["updates"], updates, "update")
