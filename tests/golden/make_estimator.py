"""What TensorFlow's own Estimator (tensorflow-estimator 2.15.0 on TensorFlow 2.21) writes and says for a line fitted in a few steps.

Its core imports on 2.21 once three names that TensorFlow has dropped are there; PATH holds the package:
    pip install --no-deps --target PATH tensorflow-estimator==2.15.0
    python make_estimator.py PATH > estimator.json
"""
import glob
import json
import logging
import os
import re
import sys
import tempfile
import types

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow.compat.v1 as tf
import tensorflow.python.distribute as distribute

tf.disable_v2_behavior()


def module(name, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made
    return made


class Unexported:
    def __init__(self, *_, **__): pass
    def __call__(self, thing): return thing
    def export_constant(self, *_): pass


def no_strategies(config, _):
    config._train_distribute = config._eval_distribute = config._distribute_coordinator_mode = None


distribute.estimator_training = module("tensorflow.python.distribute.estimator_training", init_run_config=no_strategies,
                                       should_run_distribute_coordinator=lambda config: False)
for name in "tensorflow_estimator", "tensorflow_estimator.python", "tensorflow_estimator.python.estimator":
    module(name).__path__ = [os.path.join(sys.argv[1], *name.split("."))]
module("tensorflow_estimator.python.estimator.estimator_export", estimator_export=Unexported)
from tensorflow_estimator.python.estimator import estimator as estimators, run_config

XS = np.float32(np.arange(10) / 10)
YS = 2 * XS + 1


def all_rows():
    return {"x": tf.constant(XS)}, tf.constant(YS)


def batches_once():
    counter = tf.Variable(np.int64(0), trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    first = tf.count_up_to(counter, 3) * 4
    rows = tf.range(first, tf.minimum(first + 4, 10))
    return {"x": tf.gather(tf.constant(XS), rows)}, tf.gather(tf.constant(YS), rows)


def model(features, labels, mode):
    w, b = tf.Variable(0.0, name="w"), tf.Variable(0.0, name="b")
    y = w * features["x"] + b
    if mode == "infer":
        return estimators.model_fn_lib.EstimatorSpec(mode, predictions={"x": features["x"], "y": y})
    loss = tf.reduce_mean(tf.square(y - labels))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return estimators.model_fn_lib.EstimatorSpec(mode, {"x": features["x"], "y": y}, loss, train, {"mse": tf.metrics.mean_squared_error(labels, y)})


def events_of(folder):
    lines = []
    for file in sorted(glob.glob(folder + "/events*")):
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


log = []
handler = logging.Handler()
handler.emit = lambda record: log.append(record.getMessage())
tf.get_logger().setLevel(logging.INFO)
tf.get_logger().addHandler(handler)
folder = tempfile.mkdtemp()
config = run_config.RunConfig(model_dir=folder, save_checkpoints_steps=3, save_summary_steps=2, log_step_count_steps=2)
estimator = estimators.Estimator(model, config=config)
numbers = lambda result: {name: float(value) for name, value in result.items()}
found = {}
found["first"] = numbers(estimator.train(all_rows, max_steps=7).evaluate(batches_once))
found["two"] = numbers(estimator.evaluate(batches_once, steps=2, name="two"))
estimator.train(all_rows, max_steps=7)
estimator.train(all_rows, steps=3)
found["second"] = numbers(estimator.evaluate(batches_once, checkpoint_path=folder + "/model.ckpt-6"))
found["predictions"] = [float(row["y"]) for row in estimator.predict(batches_once)]
found["variables"] = sorted(estimator.get_variable_names())
found["files"] = sorted(re.sub(r"\.tfevents\..*", ".tfevents", os.path.relpath(os.path.join(at, name), folder)) for at, _, names in os.walk(folder) for name in names)
found["events"] = {sub: events_of(os.path.join(folder, sub)) for sub in ("", "eval", "eval_two")}
found["log"] = [re.sub(r"\(\d[\d.]* sec\)", "", line.replace(folder, "DIR")) for line in log if re.match(r"loss = |Saving|Skipping|Loss for|Evaluation \[", line)]
print(json.dumps(found, indent=1))
