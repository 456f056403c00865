"""The example queue_input: CSV and TFRecord files of ours and of TensorFlow's through queues, stopped and gone on with."""
import re
import signal
import subprocess

import pytest

from oracle import BUILD, tf
from test_examples import run

FORMATS = ["csv", "tfrecord"]
LAST = re.compile(r"step (\d+) loss (\S+) weight (\S+) bias (\S+)")


def last(text):
    step, loss, weight, bias = LAST.fullmatch(text.splitlines()[-1]).groups()
    return int(step), float(loss), float(weight), float(bias)


@pytest.mark.parametrize("form", FORMATS)
def test_the_line_is_found_and_gone_on_with(tmp_path, form):
    step, loss, weight, bias = last(run("queue_input", "--format", form, "--out", tmp_path, "--steps", 1500))
    assert step == 1500 and loss < 1e-6 and abs(weight - 0.1) < 1e-2 and abs(bias - 0.3) < 1e-2
    text = run("queue_input", "--format", form, "--out", tmp_path, "--steps", 1600)
    assert f"going on from {tmp_path}/checkpoint/model.ckpt-1500" in text
    assert "step 1600 is done" in text and last(text)[0] == 1600


@pytest.mark.parametrize("form", FORMATS)
def test_the_end_of_the_input_is_a_normal_end(tmp_path, form):
    text = run("queue_input", "--format", form, "--out", tmp_path, "--epochs", 2, "--batch-size", 50)
    assert "input exhausted: " in text
    assert last(text)[0] == 2 * 600 // 50


def write_theirs(path, form):
    points = [(i / 100, 0.5 * i / 100 - 1) for i in range(100)]
    if form == "csv":
        path.write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in points))
        return
    with tf.io.TFRecordWriter(str(path)) as writer:
        for point in points:
            features = {k: tf.train.Feature(float_list=tf.train.FloatList(value=[v])) for k, v in zip("xy", point)}
            writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())


@pytest.mark.parametrize("form", FORMATS)
def test_files_of_others_are_read(tmp_path, form):
    write_theirs(tmp_path / "a", form)
    _, _, weight, bias = last(run(
        "queue_input", "--format", form, "--data", tmp_path / "a", "--out", tmp_path / "run", "--steps", 2000))
    assert abs(weight - 0.5) < 1e-2 and abs(bias + 1) < 1e-2


def test_tensorflow_reads_the_records(tmp_path):
    run("queue_input", "--format", "tfrecord", "--out", tmp_path, "--steps", 1)
    spec = {"x": tf.FixedLenFeature([], tf.float32), "y": tf.FixedLenFeature([], tf.float32)}
    count = 0
    with tf.Graph().as_default(), tf.Session() as session:
        serialized = tf.placeholder(tf.string, [])
        parsed = tf.parse_single_example(serialized, spec)
        for path in sorted(tmp_path.glob("data/*.tfrecord")):
            for record in tf.io.tf_record_iterator(str(path)):
                point = session.run(parsed, {serialized: record})
                assert abs(point["y"] - (0.1 * point["x"] + 0.3)) < 1e-6
                count += 1
    assert count == 600


@pytest.mark.parametrize("form, content, why", [
    ("csv", None, "gone"), ("csv", "x,y\n1,2\n3,four\n", "four"), ("csv", "x,y\n1,2,3\n", "3"),
    ("tfrecord", "no records here", "bad")])
def test_a_bad_file_is_an_error_that_says_so(tmp_path, form, content, why):
    path = tmp_path / ("bad" if content else "gone")
    if content:
        path.write_text(content)
    error = run("queue_input", "--format", form, "--data", path, "--out", tmp_path / "run", status=1)
    lines = [line for line in error.splitlines() if line.startswith("queue_input: ")]
    assert len(lines) == 1 and why in lines[0], error


def test_a_signal_saves_and_ends_with_its_number(tmp_path):
    program = [str(BUILD / "train/examples/queue_input"), "--out", str(tmp_path), "--steps", "1000000000"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1) as child:
        child.stdout.readline()
        child.send_signal(signal.SIGTERM)
        text, _ = child.communicate(timeout=60)
    assert child.returncode == 128 + signal.SIGTERM
    step = last(text)[0]
    assert tf.train.latest_checkpoint(str(tmp_path / "checkpoint")).endswith(f"model.ckpt-{step}")
