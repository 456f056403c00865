"""Values for TensorBoard's plugins equal those of its own functions, and its readers and pages' servers take them."""
import os
import pathlib
import subprocess

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorboard.backend.event_processing import plugin_event_multiplexer
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import PyRecordReader_New
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.custom_scalar import summary as custom_scalars
from tensorboard.plugins.hparams import api as hp
from tensorboard.plugins.hparams import api_pb2, plugin_data_pb2, summary_v2
from tensorboard.plugins.hparams import summary as hparams_v1
from tensorboard.plugins.mesh import summary_v2 as mesh
from tensorboard.plugins.pr_curve import summary as pr_curves
from tensorboard.plugins.projector import projector_plugin
from tensorboard.util import tensor_util

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("RUNNEL_BUILD", ROOT / "build")) / "tests/interop/write_plugins"
THRESHOLDS = (2, 11, 201, 1000)


@pytest.fixture(scope="module")
def arrays():
    random = np.random.RandomState(1)
    count = 5000
    labels = random.rand(count) < 0.3
    predictions = np.clip(random.rand(count) * 0.6 + labels * 0.4 * random.rand(count), 0, 1).astype(np.float32)
    predictions[:11] = np.arange(11, dtype=np.float32) / np.float32(10)  # right on thresholds
    return {
        "labels": labels,
        "predictions": predictions,
        "weights": random.randint(0, 8, count).astype(np.float32) / 4,  # sums are exact in float, whatever the order
        "vertices": random.randn(2, 5, 3).astype(np.float32),
        "faces": random.randint(0, 5, (2, 4, 3)).astype(np.int32),
        "colors": random.randint(0, 256, (2, 5, 3)).astype(np.uint8),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory, arrays):
    given, out = tmp_path_factory.mktemp("arrays"), tmp_path_factory.mktemp("logs")
    for name, array in arrays.items():
        (given / name).write_bytes(array.tobytes())
    subprocess.run([PROGRAM, out, given], check=True)
    return out


@pytest.fixture(scope="module")
def values(folder):
    """Tag -> Summary.Value of what our program wrote."""
    (path,) = folder.glob("*tfevents*")
    reader, out = PyRecordReader_New(str(path)), {}
    while True:
        try:
            reader.GetNext()
        except Exception:  # the end of the file, whatever this version calls it
            return out
        for value in event_pb2.Event.FromString(reader.record()).summary.value:
            out[value.tag] = value


def tagged(summary, tag=None):
    """The values of TensorBoard's summary; under another tag if one is given."""
    out = summary_pb2.Summary.FromString(summary.SerializeToString()).value
    if tag is not None:
        out[0].tag = tag
    return out


@pytest.mark.parametrize("thresholds", THRESHOLDS)
def test_a_curve_equals_that_of_the_function(values, arrays, thresholds):
    name = f"pr{thresholds}"
    (plain,) = tagged(pr_curves.pb(name, arrays["labels"], arrays["predictions"], thresholds), name)
    assert values[name] == plain
    name += "_weighted"
    (weighted,) = tagged(pr_curves.pb(name, arrays["labels"], arrays["predictions"], thresholds, arrays["weights"],
                                      display_name="shown", description="*d*"), name)
    assert values[name] == weighted


def test_a_curve_equals_that_of_the_op(values, arrays):
    with tf.Graph().as_default(), tf.Session() as session:
        op = pr_curves.op("pr201_weighted", tf.constant(arrays["labels"]), tf.constant(arrays["predictions"]), 201,
                          tf.constant(arrays["weights"]), display_name="shown", description="*d*")
        (theirs,) = summary_pb2.Summary.FromString(session.run(op)).value
    ours = values["pr201_weighted"]
    assert ours.metadata == theirs.metadata
    np.testing.assert_allclose(tensor_util.make_ndarray(ours.tensor), tensor_util.make_ndarray(theirs.tensor), rtol=2e-7)


def content(value):
    return plugin_data_pb2.HParamsPluginData.FromString(value.metadata.plugin_data.content)


def check_hparams(ours, theirs):
    """Equal but for the order of a map's entries."""
    assert content(ours) == content(theirs)
    for value in (ours, theirs):
        value.metadata.plugin_data.content = b""
    assert ours == theirs


def test_hyperparameters_equal_those_of_the_functions(values):
    (config,) = tagged(summary_v2.hparams_config_pb(
        [hp.HParam("rate", hp.RealInterval(1e-4, 0.1), "Rate", "of learning"), hp.HParam("layers", hp.IntInterval(1, 8)),
         hp.HParam("optimizer", hp.Discrete(["sgd", "adam"])), hp.HParam("bias", hp.Discrete([True, False])), hp.HParam("free")],
        [hp.Metric("loss", display_name="Loss"),
         hp.Metric("accuracy", "test", description="of the rest", dataset_type=hp.Metric.VALIDATION)], time_created_secs=1.7e9))
    check_hparams(values["_hparams_/experiment"], config)
    (start,) = tagged(summary_v2.hparams_pb({"rate": np.float32(0.01), "layers": 3, "optimizer": "adam", "bias": True}, "trial", 1700000001.5))
    check_hparams(values["_hparams_/session_start_info"], start)
    (end,) = tagged(hparams_v1.session_end_pb(api_pb2.STATUS_FAILURE, 1700000002.5))
    check_hparams(values["_hparams_/session_end_info"], end)


def test_the_layout_equals_that_of_the_function(values):
    margin, series = layout_pb2.MarginChartContent, layout_pb2.MarginChartContent.Series
    (theirs,) = tagged(custom_scalars.pb(layout_pb2.Layout(category=[
        layout_pb2.Category(title="Losses", chart=[
            layout_pb2.Chart(title="both", multiline=layout_pb2.MultilineChartContent(tag=["loss/.*", "^x$"])),
            layout_pb2.Chart(title="band", margin=margin(series=[series(value="m", lower="lo", upper="hi"),
                                                                 series(value="n", lower="l", upper="h")]))]),
        layout_pb2.Category(title="Closed", closed=True)])))
    assert values["custom_scalars__config__"] == theirs


def test_meshes_equal_those_of_the_function(values, arrays):
    vertices, faces, colors = arrays["vertices"], arrays["faces"], arrays["colors"]
    theirs = [*tagged(mesh.mesh_pb("cloud", vertices)), *tagged(mesh.mesh_pb("colored", vertices, colors=colors)),
              *tagged(mesh.mesh_pb("body", vertices, faces, colors, {"material": {"cls": "MeshBasicMaterial"}}, "a *body*"))]
    assert len(theirs) == 6
    for value in theirs:
        assert values[value.tag] == value


def test_the_readers_find_each_value_under_its_plugin(folder):
    multiplexer = plugin_event_multiplexer.EventMultiplexer(tensor_size_guidance={})
    multiplexer.AddRunsFromDirectory(str(folder))
    multiplexer.Reload()
    run = multiplexer.GetAccumulator(".")
    assert len(run.PluginTagToContent("pr_curves")) == 2 * len(THRESHOLDS)
    assert run.PluginTagToContent("hparams").keys() == {"_hparams_/experiment", "_hparams_/session_start_info", "_hparams_/session_end_info"}
    assert run.PluginTagToContent("custom_scalars").keys() == {"custom_scalars__config__"}
    assert len(run.PluginTagToContent("mesh")) == 6
    (event,) = run.Tensors("body_VERTEX")
    assert event.step == 3 and tensor_util.make_ndarray(event.tensor_proto).shape == (2, 5, 3)


def test_the_projector_reads_points_and_labels_exactly(folder, arrays):
    config = projector_plugin.ProjectorConfig()
    projector_plugin.text_format.Parse((folder / "projector_config.pbtxt").read_text(), config)
    words, bare = config.embeddings
    assert (words.tensor_name, list(words.tensor_shape)) == ("words", [10, 3])
    assert (bare.tensor_name, list(bare.tensor_shape), bare.metadata_path) == ("scope/bare:0", [15, 2], "")
    for entry in (words, bare):
        points = projector_plugin._read_tensor_tsv_file(str(folder / entry.tensor_path))
        assert points.tobytes() == arrays["vertices"].reshape(tuple(entry.tensor_shape)).tobytes()
    lines = (folder / words.metadata_path).read_text().splitlines()
    assert len(lines) == 11 and lines[0] == "label\tsize" and lines[3] == "\t1" and lines[10] == "ä\t1"
