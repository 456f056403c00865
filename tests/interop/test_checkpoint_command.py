"""The command `runnel checkpoint`: what it prints, its status, and TensorFlow reading what it wrote."""
import json

import numpy as np
import pytest

from oracle import GOLDEN, tf
from test_command import runnel

LINEAR = GOLDEN / "linear_ref/linear.ckpt-100"
NUMBERS = {"a": np.array([[1, 2], [3, 4]], np.float32), "scope/b": np.array([5, 6, 7], np.int64), "scope/in/c": np.array(1.5, np.float16)}


def save(prefix, values, specs=None):
    """By TensorFlow; `specs` are slices as SaveV2 takes them."""
    names = list(values)
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.raw_ops.SaveV2(prefix=str(prefix), tensor_names=names, shape_and_slices=specs or [""] * len(names),
                                      tensors=[tf.constant(values[name]) for name in names]))
    return prefix


def load(prefix):
    """By TensorFlow."""
    reader = tf.train.load_checkpoint(str(prefix))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def same(a, b):
    return a.keys() == b.keys() and all(a[n].dtype == b[n].dtype and np.array_equal(a[n], b[n]) for n in a)


def test_ls_lists_names_types_shapes_bytes_and_totals():
    assert runnel("checkpoint", "ls", LINEAR).stdout == ("biase  float[1]  4 bytes\nweight  float[1]  4 bytes\n"
                                                         "2 tensors, 2 elements, 8 bytes in 1 data file\n")
    assert runnel("checkpoint", "ls", GOLDEN / "partitioned/part.ckpt").stdout.startswith("by3  float[10,2]  80 bytes  3 parts\n")
    sharded = json.loads(runnel("checkpoint", "ls", GOLDEN / "sharded/shard.ckpt-7", "--json").stdout)
    assert sharded["tensors"][2] == {"name": "c", "dtype": "int32", "shape": [1, 2], "bytes": 8, "parts": 0}
    assert (sharded["elements"], sharded["bytes"], sharded["data_files"]) == (6, 24, 2)


def test_a_shape_of_more_elements_than_there_are_numbers_is_listed():
    out = runnel("checkpoint", "ls", GOLDEN / "partitioned/odd.ckpt").stdout
    assert "giant  int8[4611686018427387905]" in out
    assert out.endswith("10 tensors, 4684869539372298493 elements, 97 bytes in 1 data file\n")


def test_a_directory_means_its_newest_checkpoint():
    assert runnel("checkpoint", "ls", LINEAR.parent).stdout == runnel("checkpoint", "ls", LINEAR).stdout


def test_show_prints_every_value_in_rows(tmp_path):
    save(tmp_path / "m", NUMBERS | {"s": np.array([b"a b", b"\xff"], object), "e": np.zeros([0, 3], np.float32)})
    show = lambda *arguments: runnel("checkpoint", "show", tmp_path / "m", *arguments).stdout
    assert show("a") == "a  float[2,2]  16 bytes\n1 2\n3 4\n"
    assert show("scope/in/c") == "scope/in/c  half[]  2 bytes\n1.5\n"
    assert show("s") == 's  string[2]  10 bytes\n"a b" "\\u00ff"\n'
    assert show("e") == "e  float[0,3]  0 bytes\n"
    assert json.loads(show("a", "--json")) == {"name": "a", "dtype": "float", "shape": [2, 2], "bytes": 16, "parts": 0,
                                               "values": [1, 2, 3, 4]}
    assert show("a", "--npy", tmp_path / "a.npy") == "a  float[2,2]  16 bytes\n"
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), NUMBERS["a"])


def test_show_prints_half_and_bfloat16_as_the_numbers_they_are(tmp_path):
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 1 << 16, 500).astype(np.uint16)
    values = {"h": bits.view(np.float16), "b": bits.view(tf.bfloat16.as_numpy_dtype)}
    save(tmp_path / "m", values)
    for name, value in values.items():
        shown = json.loads(runnel("checkpoint", "show", tmp_path / "m", name, "--json").stdout)["values"]
        np.testing.assert_array_equal(np.array(shown).astype(np.float32), value.astype(np.float32))


def test_verify_names_each_damaged_tensor(tmp_path):
    save(tmp_path / "m", NUMBERS)
    assert runnel("checkpoint", "verify", tmp_path / "m").stdout == "3 tensors, 42 bytes: no damage\n"
    data = tmp_path / "m.data-00000-of-00001"
    data.write_bytes(bytes([data.read_bytes()[0] ^ 1]) + data.read_bytes()[1:-1])
    done = runnel("checkpoint", "verify", tmp_path / "m", status=1)
    assert [line.split("  ")[0] for line in done.stdout.splitlines()] == ["a", "scope/in/c"]
    assert done.stderr == f"runnel: 2 of 3 tensors of '{tmp_path}/m' are damaged\n"
    damaged = json.loads(runnel("checkpoint", "verify", tmp_path / "m", "--json", status=1).stdout)["damaged"]
    assert damaged[0] == {"name": "a", "message": f"the value of 'a' in '{data}' is damaged: its checksum is wrong; "
                                                  "restore an older checkpoint or copy it again"}


def test_verify_reports_an_index_that_cannot_be_read(tmp_path):
    save(tmp_path / "m", NUMBERS)
    index = tmp_path / "m.index"
    index.write_bytes(index.read_bytes()[:-1])
    done = runnel("checkpoint", "verify", tmp_path / "m", status=1)
    assert done.stdout == ""
    assert f"'{index}' is damaged" in done.stderr


def test_verify_passes_all_that_tensorflow_wrote():
    for name in ("dtypes/all.ckpt", "partitioned/part.ckpt", "many/many.ckpt", "merged/merged.ckpt", "foreign/snappy"):
        assert runnel("checkpoint", "verify", GOLDEN / name).stdout.endswith(": no damage\n")


def test_diff_says_what_differs_and_by_how_much(tmp_path):
    same_one = {"same": np.array([np.nan], np.float32)}
    a = save(tmp_path / "a", NUMBERS | same_one | {"gone": np.array([1], np.int8), "t": np.array(["x", "y"]),
                                                   "big": np.array([2**63 - 1], np.int64)})
    b = save(tmp_path / "b", {"a": np.array([[1, 2.5], [3, 1]], np.float32), "scope/b": np.array([5, 6], np.int64),
                              "scope/in/c": np.array(1.5, np.float32), "t": np.array(["x", "z"]), "new": np.array(True),
                              "big": np.array([2**63 - 2], np.int64)} | same_one)
    assert runnel("checkpoint", "diff", a, b, status=1).stdout.splitlines() == [
        "a  float[2,2]: 2 of 4 values differ, by 3 at most, at [1, 1]", "big  int64[1]: 1 of 1 values differ, by 1 at most, at [0]",
        "gone  only in the first: int8[1]", "new  only in the second: bool[]",
        "scope/b  another shape: int64[3] and int64[2]", "scope/in/c  another dtype: half[] and float[]",
        "t  string[2]: 1 of 2 values differ", "1 of 8 tensors are the same"]
    found = json.loads(runnel("checkpoint", "diff", a, b, "--json", status=1).stdout)
    assert found["differences"][0] == {"name": "a", "kind": "values", "a": "float[2,2]", "b": "float[2,2]", "elements": 4,
                                       "differing": 2, "largest": 3, "at": [1, 1]}
    assert runnel("checkpoint", "diff", a, a).stdout == "7 of 7 tensors are the same\n"


def test_diff_gives_the_whole_index_of_a_tensor_with_more_dimensions_than_elements(tmp_path):
    a, b = (save(tmp_path / name, {"v": np.full([1] * 9, value, np.float32)}) for name, value in (("a", 1), ("b", 3)))
    assert f"by 2 at most, at {[0] * 9}\n" in runnel("checkpoint", "diff", a, b, status=1).stdout
    assert json.loads(runnel("checkpoint", "diff", a, b, "--json", status=1).stdout)["differences"][0]["at"] == [0] * 9


def test_tensorflow_reads_what_rename_wrote(tmp_path):
    save(tmp_path / "m", NUMBERS)
    done = runnel("checkpoint", "rename", tmp_path / "m", tmp_path / "new/n", "--map", "a=w", "--map", "scope/=/",
                  "--map", "scope/in/=deep/")
    assert done.stdout == (f"a -> w\nscope/b -> b\nscope/in/c -> deep/c\n{tmp_path}/new/n: 3 tensors, 42 bytes, 3 renamed\n")
    assert same(load(tmp_path / "new/n"), {"w": NUMBERS["a"], "b": NUMBERS["scope/b"], "deep/c": NUMBERS["scope/in/c"]})
    runnel("checkpoint", "rename", GOLDEN / "partitioned/part.ckpt", tmp_path / "p", "--map", "by3=three")
    assert same({"three": load(tmp_path / "p")["three"]}, {"three": load(GOLDEN / "partitioned/part.ckpt")["by3"]})
    assert "three  float[10,2]  80 bytes  3 parts" in runnel("checkpoint", "ls", tmp_path / "p").stdout


def test_a_checkpoint_can_be_renamed_in_place(tmp_path):
    save(tmp_path / "m", NUMBERS)
    runnel("checkpoint", "rename", tmp_path / "m", tmp_path / "m", "--map", "a=z")
    assert set(load(tmp_path / "m")) == {"z", "scope/b", "scope/in/c"}


def test_tensorflow_reads_what_merge_wrote(tmp_path):
    rows = np.arange(10, dtype=np.float32).reshape(5, 2)
    first = save(tmp_path / "s0", {"x": NUMBERS["a"], "r": rows[:3]}, ["", "5 2 0,3:0,2"])
    second = save(tmp_path / "s1", {"r": rows[3:], "y": NUMBERS["scope/b"]}, ["5 2 3,2:0,2", ""])
    done = runnel("checkpoint", "merge", tmp_path / "m", first, second)
    assert done.stdout == f"{tmp_path}/m: 3 tensors, 80 bytes from 2 checkpoints\n"
    assert same(load(tmp_path / "m"), {"x": NUMBERS["a"], "r": rows, "y": NUMBERS["scope/b"]})
    runnel("checkpoint", "merge", tmp_path / "one", GOLDEN / "sharded/shard.ckpt-7")
    assert same(load(tmp_path / "one"), load(GOLDEN / "sharded/shard.ckpt-7"))
    assert sorted(p.name for p in tmp_path.glob("one*")) == ["one.data-00000-of-00001", "one.index"]


def test_merge_never_writes_over_what_it_reads_and_over_others_only_when_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "a", {"x": NUMBERS["a"]})
    save(tmp_path / "b", {"y": NUMBERS["scope/b"]})
    (tmp_path / "link").symlink_to(tmp_path)
    for out in ("a", "./a", tmp_path / "a", "link/a"):
        for more in ([], ["--replace"]):
            assert "is one of the checkpoints to merge" in runnel("checkpoint", "merge", out, "b", "a", *more, status=1).stderr
    assert "there is a checkpoint 'b'" in runnel("checkpoint", "merge", "b", "a", status=1).stderr
    assert same(load(tmp_path / "a"), {"x": NUMBERS["a"]}) and same(load(tmp_path / "b"), {"y": NUMBERS["scope/b"]})
    runnel("checkpoint", "merge", "b", "a", "--replace")
    assert same(load(tmp_path / "b"), {"x": NUMBERS["a"]})


@pytest.mark.parametrize("arguments, status, why", [
    (["ls"], 2, "PREFIX_OR_DIR"), (["ls", "nothere"], 1, "no checkpoint 'nothere'"), (["rename", LINEAR, "n"], 2, "--map"),
    (["rename", LINEAR, "n", "--map", "weight"], 2, "OLD=NEW"), (["rename", LINEAR, "n", "--map", "weigh=x"], 1, "no tensor 'weigh'"),
    (["rename", LINEAR, "n", "--map", "weight=biase"], 1, "biase and weight would both be called biase"),
    (["rename", LINEAR, "n", "--map", "weight=x/"], 1, "two scopes"), (["show", LINEAR, "w"], 1, "holds 'biase' and 'weight'"),
    (["merge", "n", LINEAR, LINEAR], 1, "added twice"), (["ls", f"{LINEAR}.index"], 1, f"pass '{LINEAR}'"), ([], 2, "subcommand")])
def test_the_status_says_what_happened(arguments, status, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = runnel("checkpoint", *arguments, status=status)
    assert why in done.stderr
    assert done.stdout == "" and list(tmp_path.iterdir()) == []
