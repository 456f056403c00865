"""Estimator and Experiment: what TensorFlow's own Estimator wrote and said for the same calls (golden/make_estimator.py), and
whether TensorFlow and TensorBoard read what ours leave behind."""
import glob
import json
import os
import re
import signal
import subprocess
import time

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score, roc_auc_score
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from oracle import BUILD, GOLDEN, session, tf

EXPERIMENT = BUILD / "train/examples/experiment"


def events_of(folder):
    """As golden/make_estimator.py lists them."""
    lines = []
    for file in sorted(glob.glob(str(folder) + "/events*")):
        for event in tf.train.summary_iterator(file):
            kind = event.WhichOneof("what")
            if kind == "summary":
                lines.append(" ".join(sorted(value.tag for value in event.summary.value)) + f" {event.step}")
            elif kind == "session_log":
                lines.append(f"{'START' if event.session_log.status == 1 else 'CHECKPOINT'} {event.step}")
            elif kind != "file_version":
                lines.append(kind)
        lines.append("end of file")
    return lines


@pytest.fixture(scope="module")
def theirs():
    return json.loads((GOLDEN / "estimator/estimator.json").read_text())


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ours")
    done = subprocess.run([BUILD / "tests/interop/run_estimator", folder], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    found = {name: {key: float(value) for at, key, value in lines if at == name} for name in ("first", "two", "second")}
    found["predictions"] = [float(value) for at, _, value in lines if at == "predictions"]
    found["variables"] = [key for at, key, _ in lines if at == "variables"]
    found["folder"], found["log"] = folder, done.stderr
    return found


@pytest.mark.parametrize("call", ["first", "two", "second"])
def test_an_evaluation_gives_tensorflows_numbers(ours, theirs, call):
    assert ours[call].keys() == theirs[call].keys()
    for name, value in theirs[call].items():
        assert ours[call][name] == pytest.approx(value, rel=1e-5), name


def test_predictions_and_variables_are_tensorflows(ours, theirs):
    assert ours["predictions"] == pytest.approx(theirs["predictions"], rel=1e-5)
    assert ours["variables"] == theirs["variables"]


def test_the_same_files_are_there(ours, theirs):
    folder = ours["folder"]
    names = {re.sub(r"\.tfevents\..*", ".tfevents", os.path.relpath(os.path.join(at, name), folder)) for at, _, all in os.walk(folder) for name in all}
    plain = lambda name: re.sub(r"-of-0000\d", "", name)  # a step that is saved again goes beside the first, under another number of parts
    assert sorted(map(plain, names)) == sorted(map(plain, theirs["files"]))


def test_evaluations_write_the_same_events(ours, theirs):
    for name in "eval", "eval_two":
        assert events_of(ours["folder"] / name) == theirs["events"][name]


def test_training_writes_the_same_summaries_and_checkpoints(ours, theirs):
    """The order around START, and which graphs come again, are monitored training's (train/monitored/README.md)."""
    point = re.compile(r"loss |global_step/sec ")
    points = lambda lines: sorted(line for line in lines if point.match(line))
    saved = lambda lines: {line for line in lines if line.startswith("CHECKPOINT")}
    mine = events_of(ours["folder"])
    assert points(mine) == points(theirs["events"][""])
    assert saved(mine) == saved(theirs["events"][""])


def test_the_log_says_what_tensorflow_says_of_evaluations(ours, theirs):
    for line in theirs["log"]:
        if line.startswith(("Saving dict", "Saving 'checkpoint", "Evaluation [")):
            assert re.sub(r"= (\d+\.\d{4})\d*", r"= \1", line.replace("DIR", str(ours["folder"]))) in re.sub(r"= (\d+\.\d{4})\d*", r"= \1", ours["log"]), line


def run(folder, *arguments, steps=600):
    done = subprocess.run([EXPERIMENT, "--steps", str(steps), "--save-steps", "100", "--out", folder, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("experiment")
    return folder, run(folder)


def held_out():
    i = np.arange(0, 1000, 5)
    x, y = 2 * np.fmod(i * 0.7548776662, 1) - 1, 2 * np.fmod(i * 0.5698402910, 1) - 1
    return np.float32(np.stack([x, y], 1)), (x * x + y * y < 0.64).astype(int)


def shares_of(reader, rows):
    weights = {name: reader.get_tensor(name) for name in ("hidden/kernel", "hidden/bias", "logits/kernel", "logits/bias")}
    hidden = np.maximum(rows @ weights["hidden/kernel"] + weights["hidden/bias"], 0)
    logits = hidden @ weights["logits/kernel"] + weights["logits/bias"]
    exp = np.exp(logits - logits.max(1, keepdims=True))
    return exp / exp.sum(1, keepdims=True)


def test_tensorboard_shows_the_metrics_that_the_checkpoints_have(experiment):
    folder, _ = experiment
    shown = EventAccumulator(str(folder / "eval"), size_guidance={"scalars": 0}).Reload()
    assert sorted(shown.Tags()["scalars"]) == ["accuracy", "auc", "f1", "loss", "precision", "recall"]
    steps = [point.step for point in shown.Scalars("accuracy")]
    assert steps == [100, 200, 300, 400, 500, 600]
    rows, labels = held_out()
    for at in (1, -1):
        shares = shares_of(tf.train.load_checkpoint(f"{folder}/model.ckpt-{steps[at]}"), rows)
        guess = shares.argmax(1)
        assert shown.Scalars("accuracy")[at].value == pytest.approx(accuracy_score(labels, guess))
        assert shown.Scalars("precision")[at].value == pytest.approx(precision_score(labels, guess))
        assert shown.Scalars("recall")[at].value == pytest.approx(recall_score(labels, guess))
        assert shown.Scalars("f1")[at].value == pytest.approx(f1_score(labels, guess))
        assert shown.Scalars("auc")[at].value == pytest.approx(roc_auc_score(labels, shares[:, 1]), abs=0.01)


def test_tensorflow_runs_the_export(experiment):
    folder, text = experiment
    export = re.search(r"exported to (\S+)", text).group(1)
    rows, _ = held_out()
    graph = tf.Graph()
    with graph.as_default():
        saver = tf.train.import_meta_graph(export + "/model.ckpt.meta")
        names = dict(item.decode().split("=") if isinstance(item, bytes) else item.split("=") for key in ("serving_inputs", "serving_outputs") for item in tf.get_collection(key))
        with session(graph) as running:
            saver.restore(running, export + "/model.ckpt")
            shares = running.run(names["probabilities"], {names["features"]: rows})
    np.testing.assert_allclose(shares, shares_of(tf.train.load_checkpoint(str(folder)), rows), rtol=1e-4, atol=1e-6)
    assert tf.train.load_checkpoint(export).get_variable_to_shape_map().keys() >= {"hidden/kernel", "global_step"}
    assert not [name for name in tf.train.load_checkpoint(export).get_variable_to_shape_map() if "Adam" in name]


def test_a_run_that_is_killed_comes_to_the_same_end(experiment, tmp_path):
    """SIGTERM saves the step that is done and ends with 143; kill -9 loses what was not saved."""
    last = experiment[1].splitlines()[-1]
    random = np.random.default_rng(5)
    for round in range(10):
        process = subprocess.Popen([EXPERIMENT, "--steps", "600", "--save-steps", "100", "--out", tmp_path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(random.uniform(0, 0.4))
        process.send_signal(signal.SIGTERM if round % 2 else signal.SIGKILL)
        out, log = process.communicate(timeout=60)
        assert process.returncode in (0, -signal.SIGKILL, -signal.SIGTERM, 128 + signal.SIGTERM), log
    assert run(tmp_path).splitlines()[-1] == last


def test_a_waiting_evaluation_ends_at_once(experiment, tmp_path):
    process = subprocess.Popen([EXPERIMENT, "--schedule", "continuous_eval", "--out", tmp_path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if "There is no checkpoint yet" in line:
            break
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    assert process.returncode == 128 + signal.SIGTERM
