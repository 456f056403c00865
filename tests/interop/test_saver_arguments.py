"""Every argument of Saver and Saver.save: the same files, the same nodes, the same SaverDef and the same list of kept
checkpoints as TensorFlow's for the same argument. The program is save_with.cc.
"""
import subprocess

import numpy as np
import pytest

from oracle import BUILD, tf
from tensorflow.core.protobuf import meta_graph_pb2

ARGUMENTS = [
    {}, {"reshape": True}, {"sharded": True}, {"sharded": True, "reshape": True}, {"max_to_keep": 2}, {"max_to_keep": None},
    {"max_to_keep": 0}, {"max_to_keep": 1, "keep_checkpoint_every_n_hours": 2.5}, {"name": "keeper"}, {"restore_sequentially": True},
    {"restore_sequentially": True, "sharded": True}, {"defer_build": True}, {"allow_empty": True}, {"pad_step_number": True},
    {"save_relative_paths": True}, {"filename": "run/own"}, {"latest_filename": "newest"}, {"meta_graph_suffix": "graph"},
    {"write_meta_graph": False}, {"write_state": False}, {"strip_default_attrs": True},
]
OF_SAVE = {"latest_filename", "meta_graph_suffix", "write_meta_graph", "write_state", "strip_default_attrs"}
NEWER = {"AssignVariableOp": {"validate_shape"}}  # attributes that came after 1.15


def build():
    with tf.device("/cpu:0"):
        tf.Variable(np.float32([[1, 2], [3, 4]]), name="w", use_resource=False)
        tf.Variable(np.float32([5, 6]), name="r", use_resource=True)
        tf.Variable(np.int64(7), name="step", use_resource=False)


def save_theirs(directory, arguments):
    of_saver = {key: value for key, value in arguments.items() if key not in OF_SAVE}
    of_save = {key: value for key, value in arguments.items() if key in OF_SAVE}
    with tf.Graph().as_default(), tf.Session() as s:
        if not arguments.get("allow_empty"):
            build()
        saver = tf.train.Saver(**of_saver)
        saver.build()
        s.run(tf.global_variables_initializer())
        return [saver.save(s, f"{directory}/m", global_step=step, **of_save) or "" for step in (1, 2, 3)]


def save_ours(directory, arguments):
    words = [f"{key}={int(value) if isinstance(value, bool) else value}" for key, value in arguments.items()]
    done = subprocess.run([str(BUILD / "tests/interop/save_with"), str(directory), *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def nodes(meta, scope):
    """What the saver added, but for notes that TensorFlow makes for itself."""
    listed = []
    for node in meta.graph_def.node:
        if not node.name.startswith(scope + "/"):
            continue
        attrs = {key: value.SerializeToString(deterministic=True) for key, value in node.attr.items()
                 if not key.startswith("_has_") and key != "_output_shapes" and key not in NEWER.get(node.op, ())}
        listed.append((node.name, node.op, list(node.input), node.device, attrs))
    return listed


def meta_graph(path):
    meta = meta_graph_pb2.MetaGraphDef()
    meta.ParseFromString(path.read_bytes())
    return meta


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=lambda a: "-".join(f"{key}={value}" for key, value in a.items()) or "none")
def test_an_argument_does_what_tensorflows_does(tmp_path, arguments):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    theirs.mkdir()
    returned = save_ours(ours, arguments)
    assert [one.replace("/ours/", "/theirs/") for one in returned] == save_theirs(theirs, arguments)
    files = sorted(path.name for path in theirs.iterdir())
    assert sorted(path.name for path in ours.iterdir()) == files
    for name in files:
        if name.endswith(".index") or ".data-" in name:
            assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name
        if name.endswith("." + arguments.get("meta_graph_suffix", "meta")):
            mine, other = meta_graph(ours / name), meta_graph(theirs / name)
            assert mine.saver_def == other.saver_def
            added = nodes(mine, arguments.get("name", "save"))
            assert added == nodes(other, arguments.get("name", "save"))
            assert bool(added) != bool(arguments.get("allow_empty"))
    state, wanted = (tf.train.get_checkpoint_state(str(d), arguments.get("latest_filename")) for d in (ours, theirs))
    assert (state is None) == (wanted is None)
    if state and arguments.get("max_to_keep", 5):  # otherwise TensorFlow's names the newest only: README.md, "Differs"
        kept = [path.replace("/ours/", "/theirs/") for path in state.all_model_checkpoint_paths]
        assert kept == list(wanted.all_model_checkpoint_paths)
