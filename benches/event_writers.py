#!/usr/bin/env python3
"""The workloads of event_bench through the writers of TensorFlow, TensorBoard and tensorboardX.

usage: event_writers.py WRITER DIR EVENTS    one line of JSON: nanoseconds of the caller and until all is in the file, a
                                             scalar; bytes a second of a ready picture of 1 MiB; values a second of
                                             histograms of 100,000 floats (those that this writer has)

WRITER: tensorflow (tf.summary.FileWriter), tensorboard (its EventFileWriter, without TensorFlow), tensorboardX.
"""
import json
import os
import sys
import time
import types

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy

TAG = "train/loss"
PICTURES, HISTOGRAMS = 4, 4
VALUES = numpy.random.RandomState(1).normal(size=100_000).astype(numpy.float32)
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(1 << 20)  # nobody looks into it


def tensorflow(directory):
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    writer = tf.summary.FileWriter(directory)

    def scalar(step):
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag=TAG, simple_value=0.5)]), step)

    def picture(step):
        image = tf.Summary.Image(height=1, width=1, colorspace=3, encoded_image_string=PICTURE)
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="picture", image=image)]), step)

    values = tf.placeholder(tf.float32, [len(VALUES)])
    summary = tf.summary.histogram("histogram", values)
    run = tf.Session().make_callable(summary, [values])
    run(VALUES)
    return writer, scalar, picture, lambda step: writer.add_summary(run(VALUES), step)


def tensorboard(directory):
    sys.modules["tensorboard.compat.notf"] = types.ModuleType("notf")  # how TensorBoard is told to use files of its own
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(directory)

    def add(step, value):
        writer.add_event(Event(wall_time=time.time(), step=step, summary=Summary(value=[value])))

    def picture(step):
        image = Summary.Image(height=1, width=1, colorspace=3, encoded_image_string=PICTURE)
        add(step, Summary.Value(tag="picture", image=image))

    return writer, lambda step: add(step, Summary.Value(tag=TAG, simple_value=0.5)), picture, None


def tensorboardX(directory):
    from tensorboardX import SummaryWriter
    from tensorboardX.proto.summary_pb2 import Summary

    writer = SummaryWriter(directory)

    def picture(step):
        image = Summary.Image(height=1, width=1, colorspace=3, encoded_image_string=PICTURE)
        writer._get_file_writer().add_summary(Summary(value=[Summary.Value(tag="picture", image=image)]), step)

    return (writer, lambda step: writer.add_scalar(TAG, 0.5, step), picture,
            lambda step: writer.add_histogram("histogram", VALUES, step))


def timed(writer, add, times):
    """Seconds until the calls return, and until what they added is in the file."""
    add(0)
    writer.flush()
    start = time.perf_counter()
    for step in range(1, times + 1):
        add(step)
    called = time.perf_counter() - start
    writer.flush()
    return called, time.perf_counter() - start


def main(name, directory, events):
    writer, scalar, picture, histogram = globals()[name](directory)
    called, written = timed(writer, scalar, int(events))
    out = {"call": called / int(events) * 1e9, "written": written / int(events) * 1e9}
    out["picture"] = PICTURES * len(PICTURE) / timed(writer, picture, PICTURES)[1]
    if histogram:
        out["histogram"] = HISTOGRAMS * len(VALUES) / timed(writer, histogram, HISTOGRAMS)[0]
    writer.close()
    print(json.dumps(out))


if __name__ == "__main__":
    main(*sys.argv[1:])
