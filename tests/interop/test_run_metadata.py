"""Recorded runs of Runnel in TensorFlow's messages and timeline, and in TensorBoard's graph page."""
import json
import re
import subprocess

import pytest
from google.protobuf import text_format
from tensorboard import context
from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
from tensorboard.compat.proto import config_pb2
from tensorboard.plugins import base_plugin
from tensorboard.plugins.graph import graphs_plugin
from tensorflow.python.client import timeline

from oracle import BUILD, np, session, tf

# Nodes that take time and memory for themselves; the trained variables have both elsewhere.
WORKERS = ["layer/MatMul", "gradients/layer/MatMul_grad/MatMul_1", "gradients/layer/Relu_grad/ReluGrad"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    subprocess.run([BUILD / "tests/interop/record_run", folder], check=True)
    return folder


@pytest.fixture(scope="module")
def plugin(folder):
    """TensorBoard's graph page, without its server."""
    multiplexer = plugin_event_multiplexer.EventMultiplexer()
    multiplexer.AddRunsFromDirectory(str(folder / "logs"))
    multiplexer.Reload()
    provider = data_provider.MultiplexerDataProvider(multiplexer, str(folder / "logs"))
    return graphs_plugin.GraphsPlugin(base_plugin.TBContext(logdir=str(folder / "logs"), data_provider=provider))


def graph_of(plugin):
    text, _ = plugin.graph_impl(context.RequestContext(), ".", None, False, "123")
    return text_format.Parse(text, tf.GraphDef())


def test_tensorflow_reads_the_message_and_knows_every_node(folder, plugin):
    metadata = tf.RunMetadata.FromString((folder / "run.pb").read_bytes())
    nodes = {node.name: node for node in graph_of(plugin).node}
    (device,) = metadata.step_stats.dev_stats
    assert device.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    listed = [stats.node_name for stats in device.node_stats]
    assert len(set(listed)) == len(listed) and set(listed) <= nodes.keys()
    assert {"layer/MatMul", "GradientDescent/update_layer/w/ApplyGradientDescent", "run"} <= set(listed)
    for stats in device.node_stats:
        name, op, inputs = re.match(r"(\S+) = (\S+)\((.*)\)", stats.timeline_label).groups()
        assert name == stats.node_name
        if "+" not in op:  # not the first of a fused run, which speaks for all
            assert (op, inputs) == (nodes[name].op, ", ".join(nodes[name].input))
        assert stats.thread_id in device.thread_names
        assert stats.op_end_rel_nanos == stats.all_end_rel_nanos >= 0
        assert stats.all_start_micros == stats.all_start_nanos // 1000
    assert any("fused into" in stats.timeline_label for stats in device.node_stats)


def recorded_by_tensorflow(folder):
    """The step that record_run took, of the same graph."""
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(tf.GraphDef.FromString((folder / "graph.pb").read_bytes()), name="")
        with session(graph) as run:
            run.run([node for node in graph.get_operations() if node.name.endswith("/Assign")])
            metadata = tf.RunMetadata()
            run.run(["GradientDescent", "run:0"], {"x:0": np.full([256, 300], 0.5, "f"), "large:0": np.ones(1 << 20, "f")},
                    options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    return {node.node_name: node for node in metadata.step_stats.dev_stats[0].node_stats}


def test_each_kernel_is_described_as_tensorflow_describes_it(folder):
    metadata = tf.RunMetadata.FromString((folder / "run.pb").read_bytes())
    theirs = recorded_by_tensorflow(folder)
    compared = 0
    for ours in metadata.step_stats.dev_stats[0].node_stats:
        node = theirs[ours.node_name]
        assert [out.tensor_description.dtype % 100 for out in ours.output] == [out.tensor_description.dtype for out in node.output]
        for out, of_theirs in zip(ours.output, node.output):
            assert out.tensor_description.shape == of_theirs.tensor_description.shape
            assert (out.tensor_description.allocation_description.requested_bytes
                    == of_theirs.tensor_description.allocation_description.requested_bytes)
        if not re.search("[+]|, fused", ours.timeline_label):
            # Theirs begins with sizes, names feeds for itself, and may say which library multiplies.
            label = re.sub(r"^\[.*\] |_arg_(\w+)_0_\d|_Mkl", lambda found: found[1] or "", node.timeline_label)
            assert ours.timeline_label == label
            compared += 1
    assert compared > 10
    memory = lambda node: sum(used.total_bytes for used in node.memory)
    assert [memory(theirs[name]) for name in WORKERS[:2]] == [
        memory(ours) for name in WORKERS[:2] for ours in metadata.step_stats.dev_stats[0].node_stats if ours.node_name == name]


def test_tensorflows_timeline_draws_the_same_kernels_as_our_trace(folder):
    metadata = tf.RunMetadata.FromString((folder / "run.pb").read_bytes())
    theirs = json.loads(timeline.Timeline(metadata.step_stats).generate_chrome_trace_format(show_memory=True))
    ours = json.loads((folder / "run.json").read_text())
    spans = lambda trace: [e for e in trace["traceEvents"] if e["ph"] == "X" and e["cat"] == "Op"]
    timed = {event["args"]["name"]: event for event in spans(ours)}
    fused = {name for event in timed.values() for name in event["args"].get("fused", [])}
    assert {event["args"]["name"] for event in spans(theirs)} == timed.keys() | fused
    for event in spans(theirs):
        if event["args"]["name"] in timed:
            assert event["name"] == timed[event["args"]["name"]]["name"]
    processes = lambda trace: {e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"}
    assert processes(ours) <= processes(theirs)


def test_kernels_of_a_thread_do_not_overlap_and_lie_within_the_step(folder):
    events = [e for e in json.loads((folder / "run.json").read_text())["traceEvents"] if e["ph"] == "X"]
    (step,) = [e for e in events if e["cat"] == "Step"]
    for thread in {e["tid"] for e in events}:
        end = step["ts"]
        for event in sorted((e for e in events if e["cat"] == "Op" and e["tid"] == thread), key=lambda e: e["ts"]):
            assert event["ts"] >= end - 2e-3
            end = event["ts"] + event["dur"]
        assert end <= step["ts"] + step["dur"] + 2e-3


def test_tensorboards_graph_page_has_time_memory_and_shapes(plugin):
    info = plugin.info_impl(context.RequestContext(), "123")
    assert {tag for tag, item in info["."]["tags"].items() if item["profile"]} == {"step 1", "step 2"}
    shapes = {"layer/MatMul": [256, 200], "gradients/layer/MatMul_grad/MatMul_1": [300, 200]}
    for tag in ("step 1", "step 2"):
        text, _ = plugin.run_metadata_impl(context.RequestContext(), "123", ".", tag)
        (device,) = text_format.Parse(text, config_pb2.RunMetadata()).step_stats.dev_stats
        stats = {node.node_name: node for node in device.node_stats}
        for name in WORKERS:
            assert stats[name].all_end_rel_micros > 0
            assert sum(used.total_bytes for used in stats[name].memory) >= 256 * 200 * 4
        for name, shape in shapes.items():
            assert [dim.size for dim in stats[name].output[0].tensor_description.shape.dim] == shape
        for output in (output for node in device.node_stats for output in node.output):
            assert output.tensor_description.HasField("shape")  # the page fails without
