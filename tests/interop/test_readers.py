"""Readers on files good and bad: TensorFlow's graphs run by both; keys, values, counts, ends, and what is refused."""
import gzip
import struct
import subprocess
import zlib

import pytest

from both_sides import Checks, Steps
from oracle import BUILD, session, tf

checks = Checks()
GZIP = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)
ZLIB = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.ZLIB)


@pytest.fixture(scope="module", autouse=True)
def files(tmp_path_factory):
    """The files that checks name, in the working directory of both."""
    folder = tmp_path_factory.mktemp("files")
    records = {"r": None, "r.zlib": ZLIB, "r.gzip": GZIP}
    for name, options in records.items():
        with tf.python_io.TFRecordWriter(str(folder / name), options) as writer:
            for record in (b"one", b"", b"x" * 70000, b"last"):
                writer.write(record)
    whole = (folder / "r").read_bytes()
    binary = b"HHabcdefgFF"
    for name, content in {
            "a": b"one\r\ntwo\rx\n\nlast", "b": b"h1\nh2\nc\n", "empty": b"", "ends": b"\n\n", "cr": b"a\r\r\n\r\nb\r", "cr_alone": b"\r", "cr_twice": b"\r\r",
            "cr_end": b"a\n\r", "cr_twice_end": b"a\n\r\r",
            "long": b"x" * 600000 + b"\ny", "f": binary, "even": b"HHabcdefFF", "short": b"HF", "bare": b"HHFF",
            "f.zlib": zlib.compress(binary), "f.gzip": gzip.compress(binary), "two.gzip": gzip.compress(b"HHab") + gzip.compress(b"cdFF"),
            "cut": whole[:-3], "cut_length": whole[:25], "flip": whole[:14] + b"!" + whole[15:], "length": b"\1" + whole[1:],
            "huge": struct.pack("<Q", 1 << 40) + whole[8:]}.items():
        (folder / name).write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield


def reads(name, make, names, count, up_to=None, **options):
    """`count` reads one after another in one step, and what the reader has counted after each."""
    def build():
        queue = tf.FIFOQueue(20, [tf.string], shapes=[()])
        with tf.control_dependencies([queue.enqueue_many([tf.constant(names)])]):
            init = queue.close()
        reader, fetches = make(), []
        for _ in range(count):
            with tf.control_dependencies(fetches[-2:]):
                fetches += reader.read(queue) if up_to is None else reader.read_up_to(queue, up_to)
            with tf.control_dependencies(fetches[-1:]):
                fetches.append(reader.num_records_produced() + 0)
                fetches.append(tf.add(reader.num_work_units_completed(), 0))
        return Steps(init, fetches)
    checks.add(name, build, **options)


def text(**options):
    return lambda: tf.TextLineReader(**options)


for count in (1, 4, 7, 8):
    reads(f"text_{count}", text(), ["a", "b"], count)
reads("text_carriage_returns", text(), ["cr"], 3)
for name, count in (("cr_end", 2), ("cr_alone", 1), ("cr_twice", 1), ("cr_twice_end", 2)):
    reads("text_" + name, text(), [name, "a"], count)
reads("text_no_header", text(skip_header_lines=-1), ["a"], 1)
reads("text_no_lines", text(), ["empty", "ends", "empty"], 2)
reads("text_no_more", text(), ["empty", "ends", "empty"], 3)
reads("text_header", text(skip_header_lines=1), ["b", "a"], 5)
reads("text_all_header", text(skip_header_lines=9), ["b", "a"], 1)
reads("text_long", text(), ["long"], 2)
reads("text_missing", text(), ["none", "b"], 1)
for most in (0, 1, 2, 3, 9):
    reads(f"text_up_to_{most}", text(), ["a", "empty", "b"], 2, up_to=most)
reads("text_up_to_end", text(), ["a", "b"], 3, up_to=9)
reads("whole", tf.WholeFileReader, ["b", "empty"], 2)
reads("whole_missing", tf.WholeFileReader, ["none"], 1)
reads("whole_up_to", tf.WholeFileReader, ["b", "empty"], 2, up_to=2)
reads("names", tf.IdentityReader, ["x", "y"], 2)
reads("names_end", tf.IdentityReader, ["x", "y"], 3)


def fixed(record=2, **options):
    return lambda: tf.FixedLengthRecordReader(record, **options)


COUNTS = {(2, 2, 0): (3, 3, 0, 0), (2, 2, 1): (6, 5, 0, 0), (0, 0, 3): (4, 3, 1, 1), (0, 1, 3): (3, 3, 0, 1), (2, 0, 5): (2, 2, 0, 1)}
for (header, footer, hop), counts in COUNTS.items():
    for name, count in zip(("f", "even", "short", "bare"), counts):
        for more in (0, 1):
            if count + more:
                reads(f"fixed_{header}_{footer}_{hop}_{name}_{count + more}",
                      fixed(header_bytes=header, footer_bytes=footer, hop_bytes=hop), [name], count + more)
for encoding, name in (("ZLIB", "f.zlib"), ("GZIP", "f.gzip"), ("GZIP", "two.gzip"), ("ZLIB", "f")):
    for hop in (0, 1, 3):
        reads(f"fixed_{name}_{hop}", fixed(header_bytes=2, footer_bytes=2, hop_bytes=hop, encoding=encoding), [name], 2)
for number, options in enumerate((dict(record=-1), dict(header_bytes=-1), dict(footer_bytes=-1), dict(hop_bytes=-1))):
    reads(f"fixed_bad_{number}", fixed(**options), ["f"], 1)
reads("fixed_no_length", fixed(record=0), ["f"], 1, ours="invalidargument")  # TensorFlow reads empty records for ever


def records(options=None):
    return lambda: tf.TFRecordReader(options=options)


for name, options in (("r", None), ("r.zlib", ZLIB), ("r.gzip", GZIP)):
    reads(f"records_{name}", records(options), [name, "empty" if options is None else name], 4)
    reads(f"records_twice_{name}", records(options), [name, name], 8)
    reads(f"records_end_{name}", records(options), [name], 5)
    reads(f"records_up_to_{name}", records(options), [name, name], 2, up_to=3)
for name in ("cut", "cut_length", "flip", "length", "huge", "a"):
    for count in (1, 2, 4):
        # To TensorFlow a file that ends within a record's length ends there.
        reads(f"records_{name}_{count}", records(), [name], count, ours="dataloss" if name == "cut_length" and count > 1 else None)
reads("records_not_zlib", records(ZLIB), ["r"], 1)
reads("records_not_gzip", records(GZIP), ["r.zlib"], 1)

for number, patterns in enumerate((["*"], ["?"], ["[ab]", "e*"], ["r.*"], ["none*"], "a", "./a", ["a", "a*"], ["*.[!z]*"], ["[a-f]"])):
    checks.add(f"matching_{number}", lambda patterns=patterns: [tf.matching_files(tf.constant(patterns, tf.string))])
checks.add("read_file", lambda: [tf.read_file("a")])
checks.add("read_file_missing", lambda: [tf.read_file("none")])


@checks.test
def test_both_give_the_same_records_or_class_of_error(check):
    failure = check.failure()
    assert failure is None, failure


def examples(path, options):
    return [tf.train.Example.FromString(record) for record in tf.python_io.tf_record_iterator(str(path), options)]


def test_files_of_either_are_read_by_the_other(tmp_path):
    features = {"a": tf.train.Feature(float_list=tf.train.FloatList(value=[1.5, -2])), "b": tf.train.Feature(
        int64_list=tf.train.Int64List(value=[-1, 1 << 62])), "c": tf.train.Feature(), "d": tf.train.Feature(
            bytes_list=tf.train.BytesList(value=[b"", b"\xff" * 70000]))}
    theirs = [tf.train.Example(features=tf.train.Features(feature=features)), tf.train.Example()]
    kinds = {"": None, ".zlib": ZLIB, ".gzip": GZIP}
    for suffix, options in kinds.items():
        with tf.python_io.TFRecordWriter(str(tmp_path / ("theirs" + suffix)), options) as writer:
            for example in theirs:
                writer.write(example.SerializeToString())
    subprocess.run([BUILD / "tests/interop/write_records", tmp_path], check=True)
    for suffix, options in kinds.items():
        assert examples(tmp_path / ("again" + suffix), options) == theirs
        ours = examples(tmp_path / ("ours" + suffix), options)
        assert len(ours) == 100
        for i, example in enumerate(ours):
            feature = example.features.feature
            assert list(feature["x"].float_list.value) == [i, -0.5]
            assert list(feature["n"].int64_list.value) == [-i] * (i % 3)
            assert list(feature["s"].bytes_list.value) == [b"s" * 100 * i, b""]
            assert feature["none"].WhichOneof("kind") is None
    run_our_graph(tmp_path)


def run_our_graph(folder):
    (folder / "text").write_bytes(b"header\n1.5,x,\"a,b\"\n")
    with tf.Graph().as_default() as graph, session(graph) as theirs:
        tf.import_graph_def(tf.GraphDef.FromString((folder / "graph.pb").read_bytes()), name="")

        def run(name, *fetches):
            theirs.run("add", {"paths:0": [str(folder / name)]})
            return theirs.run(fetches)
        keys, x, n, other = run("ours.gzip", "batch:0", "x:0", "n:0", "other:0")
        assert [key.decode().split(":")[1] for key in keys][0] == "0" and len(keys) == 3
        assert x.tolist() == [[0, -0.5], [1, -0.5], [2, -0.5]] and n.tolist() == [-1, -2, -2] and other.tolist() == [7, 7, 7]
        assert theirs.run("single:0").tolist() == [3, -0.5]
        assert run("text", "line:0", "column:0") == (str(folder / "text").encode() + b":2", b"a,b")
        assert run("text", "fixed:1") == (b"head",)
        assert theirs.run("parts:0", {"paths:0": [b"a/b", b"/c"]}).tolist() == [b"a", b"b", b"c"]
