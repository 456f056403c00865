#!/usr/bin/env python3
"""The workloads of checkpoint_bench in TensorFlow: what its Saver needs.

usage: tf_saver.py DIR     reads lines "WORKLOAD TIMES", answers each with one line of JSON: lists of seconds for save
                           (data and index), save_all (with .meta and the state file), durable (save, then fsync of
                           what it wrote and of the directory), restore, and restore_first (in a
                           new session)

All threads; nothing is synced but where it says so. Restores read from the page cache.
"""
import json
import os
import sys
import time

for setting in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(setting, None)
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow.compat.v1 as tf

tf.logging.set_verbosity(tf.logging.ERROR)
tf.disable_v2_behavior()
tf.disable_resource_variables()

WORKLOADS = {"1x256MB": (1, 64_000_000), "20x20MB": (20, 5_000_000), "1000x64B": (1000, 16)}
SMALL = 1 << 20


def fsync(path):
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.close(file)


class Trained:
    def __init__(self, workload, directory):
        count, floats = WORKLOADS[workload]
        tf.reset_default_graph()
        for i in range(count):
            tf.Variable(tf.random_uniform([floats], seed=i + 1), name="v%d" % i)
        init = tf.global_variables_initializer()
        self.saver = tf.train.Saver()
        self.session = tf.Session()
        self.session.run(init)
        self.directory, self.prefix = directory, os.path.join(directory, "model.ckpt")
        self.large = 4 * count * floats >= SMALL

    def clear(self):
        for name in os.listdir(self.directory):
            os.remove(os.path.join(self.directory, name))

    def save(self):
        self.saver.save(self.session, self.prefix, write_meta_graph=False, write_state=False)

    def save_all(self):
        self.saver.save(self.session, self.prefix)

    def durable(self):
        self.save()
        for name in os.listdir(self.directory):
            fsync(os.path.join(self.directory, name))
        fsync(self.directory)

    def restore(self):
        self.saver.restore(self.session, self.prefix)

    def renew(self):
        self.session.close()
        self.session = tf.Session()

    def restore_first(self):
        self.restore()

    def seconds(self, call, before, times):
        taken = []
        for _ in range(times):
            before()
            if self.large:
                os.sync()
            begin = time.perf_counter()
            call()
            taken.append(time.perf_counter() - begin)
        return taken

    def measure(self, times):
        answer = {call.__name__: self.seconds(call, self.clear, times)
                  for call in (self.save, self.save_all, self.durable)}
        self.restore()
        answer["restore"] = self.seconds(self.restore, lambda: None, times)
        answer["restore_first"] = self.seconds(self.restore_first, self.renew, times)
        self.clear()
        return answer


def main(directory):
    kept = None
    for line in sys.stdin:
        workload, times = line.split()
        if kept is None or kept[0] != workload:
            if kept:
                kept[1].session.close()
            kept = (workload, Trained(workload, directory))
        print(json.dumps(kept[1].measure(int(times))), flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
