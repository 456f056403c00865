"""Pictures, sounds, texts and tensors: our ops' summaries equal TensorFlow's, and TensorBoard's readers take ours."""
import io
import subprocess
import time
import wave

import numpy as np
import pytest
from PIL import Image
from tensorboard import context
from tensorboard.backend.event_processing import event_accumulator, event_file_inspector, plugin_event_multiplexer
from tensorboard.compat.proto import event_pb2
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import PyRecordReader_New
from tensorboard.data import provider
from tensorboard.util import tensor_util

from data_server import data_server
from oracle import BUILD, session, tf

RATE = 8000
TEXT_TAGS = {"direct": "words", "graph": "words_1"}  # the placeholder took the name
DIRECT_IMAGES = {"one", "batch", "ranged", "stretched", "photo", "drawing"}


@pytest.fixture(scope="module")
def data():
    random = np.random.RandomState(5)
    values = random.randn(2, 6, 4, 1).astype(np.float32)
    values[0, 1, 2], values[1, 3, 0] = np.nan, np.inf
    samples = (random.randn(1, 500, 2) / 2).astype(np.float32)
    samples[0, 3, 1] = np.nan
    return {
        "pixels": random.randint(0, 256, (3, 5, 7, 3)).astype(np.uint8),
        "values": values,
        "samples": samples,
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory, data):
    given, out = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("logs")
    for name, array in data.items():
        (given / name).write_bytes(array.tobytes())
    Image.fromarray(data["pixels"][0]).resize((40, 30)).save(given / "photo.jpg")
    Image.fromarray(data["pixels"][1]).convert("P").save(given / "drawing.png")
    done = subprocess.run([BUILD / "tests/interop/write_media", out, given], check=True, capture_output=True, text=True)
    assert done.stderr.count("clamped") == 3  # once a tag of the writer's one sound and of the graph's two
    return out


@pytest.fixture(scope="module")
def runs(folder):
    """The runs as TensorBoard's pages see them."""
    sizes = {"images": 0, "audio": 0, "text": 0, "tensors": 0}
    out = plugin_event_multiplexer.EventMultiplexer(tensor_size_guidance=sizes)
    out.AddRunsFromDirectory(str(folder))
    out.Reload()
    return out


@pytest.fixture(scope="module")
def server(folder):
    """TensorBoard's data server, when it has read both runs."""
    out = data_server(folder, {"images": 0, "audio": 0, "text": 0})
    end = time.monotonic() + 30
    while [len(points) for points in words(out.data_provider).values()] != [3, 2]:
        assert time.monotonic() < end, "the data server does not find both runs' texts"
        time.sleep(0.05)
    return out.data_provider


def words(server):
    found = server.read_tensors(context.RequestContext(), experiment_id="", plugin_name="text", downsample=100)
    return {run: tags.get(TEXT_TAGS[run], []) for run, tags in sorted(found.items())}


def strings(run, tag, step):
    return tensor_util.make_ndarray(run.Tensors(tag)[step].tensor_proto)


def pixels(file):
    picture = Image.open(io.BytesIO(file))
    return np.asarray(picture).reshape(picture.height, picture.width, -1)


def events(folder):
    (path,) = folder.glob("*tfevents*")
    reader = PyRecordReader_New(str(path))
    while True:
        try:
            reader.GetNext()
        except Exception:  # the end of the file, whatever this version calls it
            return
        yield event_pb2.Event.FromString(reader.record())


def ranged(values, low, high):
    """By the definition: cut off, the nearest pixel, red where there is no number."""
    with np.errstate(invalid="ignore"):
        out = np.floor(np.clip((values.astype(np.float64) - low) / (high - low), 0, 1) * 255 + 0.5)
    return np.where(np.isfinite(values), out, 255).astype(np.uint8)


def test_pixels_are_shown_as_they_are(runs, data):
    run = runs.GetAccumulator("direct")
    assert run.PluginTagToContent("images").keys() == DIRECT_IMAGES
    for step in range(3):
        width, height, *files = strings(run, "one", step)
        assert (width, height, len(files)) == (b"7", b"5", 1)
        assert np.array_equal(pixels(files[0]), data["pixels"][step])
        width, height, *files = strings(run, "batch", step)
        assert (width, height, len(files)) == (b"7", b"5", 3)
        assert all(np.array_equal(pixels(file), want) for file, want in zip(files, data["pixels"]))


def test_floats_are_shown_by_the_range(runs, data):
    _, _, *files = strings(runs.GetAccumulator("direct"), "ranged", 1)
    assert all(np.array_equal(pixels(file), ranged(want, -1, 3)) for file, want in zip(files, data["values"], strict=True))


def test_floats_without_a_range_have_tensorflows_pixels(runs, data):
    with tf.Graph().as_default() as graph:
        summary = tf.summary.image("i", data["values"])
        with session(graph) as tensorflow:
            wanted = tf.Summary.FromString(tensorflow.run(summary)).value
    _, _, *files = strings(runs.GetAccumulator("direct"), "stretched", 1)
    for file, want in zip(files, wanted, strict=True):
        assert np.array_equal(pixels(file), pixels(want.image.encoded_image_string))


def test_ready_files_keep_their_size(runs):
    run = runs.GetAccumulator("direct")
    for tag, kind, size in (("photo", "JPEG", (40, 30)), ("drawing", "PNG", (7, 5))):
        width, height, file = strings(run, tag, 2)
        picture = Image.open(io.BytesIO(file))
        assert (picture.format, picture.size, (int(width), int(height))) == (kind, size, size)


def test_a_sound_lasts_as_long_as_it_should(runs, data):
    run = runs.GetAccumulator("direct")
    file = strings(run, "sound", 0).ravel()[0]
    with wave.open(io.BytesIO(file)) as sound:
        assert (sound.getframerate(), sound.getnchannels(), sound.getsampwidth()) == (RATE, 2, 2)
        assert sound.getnframes() / sound.getframerate() == 500 / RATE
        heard = np.frombuffer(sound.readframes(500), "<i2")
    loud = np.nan_to_num(data["samples"].ravel()).astype(np.float64) * 32768
    assert np.abs(heard - np.clip(loud, -32768, 32767)).max() <= 0.5


def test_texts_and_tensors_are_found_by_their_plugins(runs):
    run = runs.GetAccumulator("direct")
    assert run.PluginTagToContent("text").keys() == {"words", "table"}
    assert [strings(run, "words", step).item() for step in range(3)] == [b"**step** %d" % step for step in range(3)]
    assert strings(run, "table", 0).tolist() == [[b"a", b"b"], [b"c", b"d"]]
    assert run.SummaryMetadata("words").summary_description == "what was said"
    assert run.PluginTagToContent("unheard_of").keys() == {"numbers"}
    assert run.SummaryMetadata("numbers").display_name == "Numbers"
    assert strings(run, "numbers", 2).tolist() == [1.5, 2.5]


def test_the_older_reader_finds_pictures_and_sounds(folder):
    run = event_accumulator.EventAccumulator(str(folder / "graph"), size_guidance={"images": 0, "audio": 0}).Reload()
    assert sorted(run.Tags()["images"]) == ["fam/sc/fam/two_of_three/image/0", "fam/sc/fam/two_of_three/image/1",
                                            "sc/grey/image"]
    assert [event.step for event in run.Images("sc/grey/image")] == [0, 1]
    assert [event.sample_rate for event in run.Audio("sc/sound/audio/0")] == [RATE, RATE]


def test_inspecting_counts_what_was_written(folder):
    (path,) = (folder / "direct").glob("*tfevents*")
    counts = event_file_inspector.get_field_to_observations_map(event_file_inspector.generator_from_event_file(str(path)))
    assert {field: len(found) for field, found in counts.items() if found} == {"images": 9, "audio": 3, "tensor": 18}


def test_the_data_server_reads_the_same(server, data):
    ctx = context.RequestContext()
    found = server.read_blob_sequences(
        ctx, experiment_id="", plugin_name="images", downsample=100,
        run_tag_filter=provider.RunTagFilter(runs=["direct"]))["direct"]
    assert found.keys() == DIRECT_IMAGES
    assert [point.step for point in found["one"]] == [0, 1, 2]
    files = [server.read_blob(ctx, blob_key=blob.blob_key) for blob in found["batch"][1].values]
    assert files[:2] == [b"7", b"5"]
    assert all(np.array_equal(pixels(file), want) for file, want in zip(files[2:], data["pixels"], strict=True))
    sounds = server.list_blob_sequences(ctx, experiment_id="", plugin_name="audio")
    assert {run: set(tags) for run, tags in sounds.items()} == {
        "direct": {"sound"}, "graph": {"sc/sound/audio/0", "sound/audio/0"}}
    assert [point.numpy.item() for point in words(server)["direct"]] == [b"**step** %d" % step for step in range(3)]
    assert words(server)["graph"][1].numpy.tolist() == [b"one", b"*two*"]


def graph_of(folder):
    (graph,) = [tf.GraphDef.FromString(event.graph_def) for event in events(folder) if event.graph_def]
    return graph


def summary_of(folder):
    first = next(event.summary for event in events(folder) if event.HasField("summary"))
    return tf.Summary.FromString(first.SerializeToString())


def test_a_range_is_ours_alone_and_no_trouble_to_tensorflow(folder, data):
    ours = summary_of(folder / "ranged")
    with tf.Graph().as_default() as graph:  # values above 1 KiB would not be in an event's graph
        (ranged_op,) = tf.import_graph_def(graph_of(folder / "ranged"), return_elements=["ranged:0"], name="")
        with session(graph) as tensorflow:
            theirs = tf.Summary.FromString(tensorflow.run(ranged_op))
    for mine, other, values in zip(ours.value, theirs.value, data["values"], strict=True):
        assert mine.tag == other.tag
        assert np.array_equal(pixels(mine.image.encoded_image_string), ranged(values, -1, 3))
        assert not np.array_equal(pixels(other.image.encoded_image_string), ranged(values, -1, 3))


@pytest.fixture(scope="module")
def theirs(data):
    """The same graph built by TensorFlow, and what its merged summaries give."""
    with tf.Graph().as_default() as graph:
        feeds = {tf.placeholder(array.dtype, array.shape, name): array for name, array in data.items()}
        pixel, value, sample = feeds
        texts = tf.placeholder(tf.string, [2], "words")
        feeds[texts] = np.array([b"one", b"*two*"], object)
        with tf.name_scope("sc"):
            tf.summary.image("two of three", pixel, max_outputs=2, family="fam")
            tf.summary.image("grey", value, max_outputs=1)
            tf.summary.audio("sound", sample, RATE)
        tf.summary.audio("sound", sample, tf.constant(44100.7, name="rate"))
        tf.summary.text("words", texts)
        tf.summary.tensor_summary("values", value, summary_description="*all*", family="fam", display_name="Values")
        merged = tf.summary.merge_all()
        with session(graph) as tensorflow:
            return graph.as_graph_def(), tf.Summary.FromString(tensorflow.run(merged, feeds))


def test_our_builders_make_tensorflows_nodes(folder, theirs):
    ours = graph_of(folder / "graph")
    for node in ours.node:
        node.attr.pop("_output_shapes", None)
    want = {node.name: node for node in theirs[0].node}
    assert {node.name for node in ours.node} == want.keys()
    for node in ours.node:
        assert (node.op, list(node.input)) == (want[node.name].op, list(want[node.name].input)), node.name
        assert node.attr.keys() == want[node.name].attr.keys(), node.name
        for name, attr in node.attr.items():
            other = want[node.name].attr[name]
            if attr.WhichOneof("value") == "tensor":
                assert np.array_equal(tf.make_ndarray(attr.tensor), tf.make_ndarray(other.tensor)), (node.name, name)
            else:
                assert attr == other, (node.name, name)


def test_our_summary_is_tensorflows(folder, theirs):
    ours = summary_of(folder / "graph")
    for summary in (ours, theirs[1]):
        for value in summary.value:
            if value.HasField("image"):
                value.image.encoded_image_string = pixels(value.image.encoded_image_string).tobytes()
    assert ours == theirs[1]
