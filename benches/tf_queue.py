#!/usr/bin/env python3
"""The cases of queue_bench in TensorFlow, by its callables: prints microseconds an iteration.

usage: tf_queue.py     in the Python environment that tests/run makes
"""
import os
import threading
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow.compat.v1 as tf

tf.logging.set_verbosity(tf.logging.ERROR)
tf.disable_v2_behavior()


def timed(name, run, session, seconds=0.5):
    """The least of five rounds."""
    run()
    rounds = []
    for _ in range(5):
        count, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds / 5:
            run()
            count += 1
        rounds.append((time.perf_counter() - start) / count)
    print(f"{name:28} {min(rounds) * 1e6:10.2f} us")


def main():
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    for floats in (1, 1000):
        with tf.Graph().as_default(), tf.Session(config=config) as session:
            queue = tf.FIFOQueue(10, [tf.float32], shapes=[[floats]])
            put, taken = session.make_callable(queue.enqueue([tf.zeros([floats])])), session.make_callable(queue.dequeue())
            timed(f"in_and_out/{floats}", lambda: (put(), taken()), session)
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        queue = tf.FIFOQueue(10, [tf.float32], shapes=[[1]])
        timed("in_and_out_in_one_step", session.make_callable([queue.enqueue([tf.zeros([1])]), queue.dequeue()]), session)
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=2)) as session:
        queue = tf.FIFOQueue(32, [tf.float32], shapes=[[1000]])
        put, stop = session.make_callable(queue.enqueue([tf.zeros([1000])])), queue.close(cancel_pending_enqueues=True)

        def fill():
            try:
                while True:
                    put()
            except tf.errors.CancelledError:
                pass

        filler = threading.Thread(target=fill)
        filler.start()
        timed("across_threads", session.make_callable(queue.dequeue()), session)
        session.run(stop)
        filler.join()
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        queue = tf.FIFOQueue(256, [tf.float32], shapes=[[784]])
        put = session.make_callable(queue.enqueue_many([tf.zeros([128, 784])]))
        taken = session.make_callable(queue.dequeue_many(128))
        timed("batches", lambda: (put(), taken()), session)


if __name__ == "__main__":
    main()
