"""CSV lines, raw bytes, numbers in text, split strings and Example messages: TensorFlow's graphs run by both."""
import itertools
import struct

import numpy as np

from both_sides import Checks
from oracle import tf

raw = tf.raw_ops
checks = Checks()
S, I, F, D, L = tf.string, tf.int32, tf.float32, tf.float64, tf.int64

# --- numbers
NUMBERS = [
    "1", " 1 ", "+1", "-1", "1.5", "1e3", "0x1A", "0x1.8p1", "inf", "-INF", "Infinity", "nan", "nan(abc)", "", "  ", "1 2", "1f",
    "1e400", "1e-400", "-1e400", "1.", "  .5", ".", "1,5", "\t1\n", "1\0", "0", "-0", "007", "1e", "1e+", "--1", "+-1", "-+1", "+ 1",
    "2147483648", "-2147483649", "9223372036854775808", "-9223372036854775808", "4294967296", "1_000", "3.4e38", "3.5e38", "1e-46",
    "1e-40", "0b1", "infinit", "in", "-nan", "+inf", "+.5", "\v1", "\f1", "1\r", "\u00a01", "0x", "0xinf", "0x1p200", "0x1p-200",
    "0x1A2B3C4D5E6F7A8B9C", "-0x10", "0x-1", "16777217", "0.1", "1.17549435e-38", "340282356779733661637539395458142568448",
    "1" * 400, "0." + "0" * 400 + "1", "1e99999999999999999999", "1e-99999999999999999999", "0e99999999999999999999"]
for number, (text, dtype) in enumerate(itertools.product(NUMBERS, (F, D, I, L, tf.uint32, tf.uint64))):
    checks.add(f"number{number}", lambda text=text, dtype=dtype: [tf.string_to_number([text], dtype)])
checks.add("number_none", lambda: [tf.string_to_number(tf.zeros([0, 2], S))])


# --- CSV
def csv(name, records, defaults, **attrs):
    checks.add("csv_" + name, lambda: raw.DecodeCSV(
        records=tf.constant(records, S), record_defaults=[tf.constant(value, dtype) for value, dtype in defaults], **attrs))


TEXT = ([b"D"], S)
csv("plain", ["1,2.5,x,4,5", "-7,,y z , 8 ,1e3"], [([0], I), ([0.5], F), TEXT, (4, L), ([], D)])
csv("matrix", [["1,2"], ["3,4"]], [([0], I), (9, I)])
csv("scalar", "1,2", [([0], I), (9, I)])
csv("none", [], [([0], I)])
csv("few", ["1,2.5"], [([0], I), ([0.], F), TEXT])
csv("many", ["1,2.5,x,y"], [([0], I), ([0.], F), TEXT])
csv("default", [",,"], [([7], I), ([1.5], F), TEXT])
csv("no_default", [",,"], [([], I), ([1.5], F), TEXT])
csv("no_integer", ["a,2"], [([0], I), ([1.5], F)])
csv("no_float", ["1,b"], [([0], I), ([1.5], F)])
csv("no_double", ["1b"], [([0.], D)])
csv("no_long", ["1.5"], [([0], L)])
csv("overflow", ["3000000000"], [([0], I)])
csv("empty", [""], [([3], L)])
csv("blank", [" "], [TEXT])
csv("na", ["NA,\"NA\",NAN"], [([3], L), TEXT, TEXT], na_value="NA")
for number, line in enumerate([
        '"a,b",1', '"a""b",1', '"a"b",1', '"a\nb",1', "a\nb,1", 'a"b,1', '"a,1', '"a" ,1', 'a,"b"', 'a,"b"\n', "a,b\n", 'a,""', "\na,\r\nb",
        'a,"b', '"', '""', '"",""', "a,\n", ",\n", "\n", "\n\n,", '"a","b"x', '"a"""', '"a""', '"""', '""""', 'x,""""', ",", ",,", '"1"', '"a",',
        '"a,",', '"a","', '",",","']):
    for count, quotes in itertools.product((1, 2), (True, False)):
        csv(f"line{number}_{count}_{quotes}", [line], [TEXT] * count, use_quote_delim=quotes)
csv("select", ["a,b,c,d"], [TEXT, TEXT], select_cols=[1, 3])
csv("select_last_empty", ["a,b,c,"], [TEXT, TEXT], select_cols=[1, 3])
csv("select_bad_rest", ['a,b,"c'], [TEXT, TEXT], select_cols=[0, 1])
csv("select_bad_before", ['"a"x,b'], [TEXT], select_cols=[1])
csv("select_missing", ["a,b"], [TEXT, TEXT], select_cols=[1, 3])
csv("select_falling", ["a,b"], [TEXT, TEXT], select_cols=[3, 1])
csv("select_twice", ["a,b"], [TEXT, TEXT], select_cols=[1, 1])
csv("select_negative", ["a,b"], [TEXT, TEXT], select_cols=[-1, 1])
csv("select_few", ["a,b"], [TEXT, TEXT], select_cols=[1])
csv("delimiter", ["a|b"], [TEXT, TEXT], field_delim="|")
csv("delimiter_tab", ["a\tb\t"], [TEXT, TEXT, TEXT], field_delim="\t")
csv("delimiter_long", ["a||b"], [TEXT, TEXT], field_delim="||")
csv("delimiter_none", ["ab"], [TEXT], field_delim="")


# --- raw bytes
BYTES = bytes(range(1, 17))
for dtype, little in itertools.product(
        (tf.half, F, D, I, tf.uint16, tf.uint8, tf.int16, tf.int8, L, tf.complex64, tf.complex128, tf.bool, tf.bfloat16), (True, False)):
    text = b"\0\1\1\0" if dtype == tf.bool else BYTES
    checks.add(f"raw_{dtype.name}_{little}", lambda text=text, dtype=dtype, little=little: [
        tf.decode_raw([[text], [text[::-1]]], dtype, little_endian=little), tf.decode_raw([b""], dtype),
        tf.decode_raw(tf.zeros([0, 2], S), dtype)])
checks.add("raw_odd", lambda: [tf.decode_raw([b"abc"], tf.int16)])
checks.add("raw_lengths", lambda: [tf.decode_raw([b"abcd", b"ab"], tf.int16)])


# --- splitting
TEXTS = ["a b", "c", " d  e ", "", ",", "a,b;;c,", "\v x\fy\x1c", "a<>b<><>", "\u00e9t\u00e9"]
for number, (delimiter, skip) in enumerate(itertools.product((" ", ",", ",;", "", "<>"), (True, False))):
    checks.add(f"split{number}", lambda delimiter=delimiter, skip=skip: raw.StringSplit(
        input=TEXTS, delimiter=delimiter, skip_empty=skip))
for number, (separator, most) in enumerate(itertools.product(("", " ", ",", "<>"), (-2, -1, 0, 1, 2))):
    checks.add(f"split_v2_{number}", lambda separator=separator, most=most: raw.StringSplitV2(
        input=TEXTS, sep=separator, maxsplit=most))
checks.add("split_none", lambda: [*raw.StringSplit(input=tf.zeros([0], S), delimiter=","),
                                  *raw.StringSplitV2(input=tf.zeros([0], S), sep=",")])


# --- examples
def example(**features):
    message = tf.train.Example()
    for name, values in features.items():
        feature = message.features.feature[name]
        if values is None:
            continue
        kind = {bytes: feature.bytes_list, float: feature.float_list, int: feature.int64_list}[type(values[0]) if values else float]
        kind.SetInParent()
        kind.value.extend(values)
    return message.SerializeToString()


def field(number, payload):
    return bytes([number << 3 | 2, len(payload)]) + payload


def feature(key, body):
    return field(1, field(1, field(1, key) + field(2, body)))


def parse_v2(name, serialized, sparse=(), dense=(), ragged=(), names=(), ours=None):
    """As TensorFlow 2 writes it."""
    checks.add(name, lambda: [tensor for part in raw.ParseExampleV2(
        serialized=tf.constant(serialized, S), names=tf.constant(names, S), sparse_keys=tf.constant([key for key, _ in sparse], S),
        dense_keys=tf.constant([key for key, *_ in dense], S), ragged_keys=tf.constant([key for key, *_ in ragged], S),
        dense_defaults=[tf.constant(value, dtype) for _, dtype, _, value in dense], num_sparse=len(sparse),
        sparse_types=[dtype for _, dtype in sparse], ragged_value_types=[dtype for _, dtype, _ in ragged],
        ragged_split_types=[split for *_, split in ragged], dense_shapes=[shape for _, _, shape, _ in dense]) for tensor in part], ours=ours)


def parse(name, batch, sparse=(), dense=(), single=True, ours=None):
    """As a batch, and its first example by itself, by the ops of TensorFlow 1 and 2."""
    def build(op, serialized, **more):
        return lambda: [tensor for part in op(
            serialized=tf.constant(serialized, S), dense_defaults=[tf.constant(value, dtype) for _, dtype, _, value in dense],
            sparse_keys=[key for key, _ in sparse], dense_keys=[key for key, *_ in dense],
            sparse_types=[dtype for _, dtype in sparse], dense_shapes=[shape for _, _, shape, _ in dense], **more) for tensor in part]
    checks.add("parse_" + name, build(raw.ParseExample, batch, names=[]), ours=ours)
    parse_v2("parse_v2_" + name, batch, sparse, dense, ours=ours)
    if single and batch:
        checks.add("parse_single_" + name, build(raw.ParseSingleExample, batch[0], num_sparse=len(sparse)), ours=ours)
        parse_v2("parse_v2_single_" + name, batch[0], sparse, dense, ours=ours)


A = example(x=[1., 2.], l=[3], s=[b"q", b"r"], e=[], n=None)
B = example(x=[4., 5.], l=[6], s=[b"z"])
BOTH = [A, B]
parse("plain", BOTH, [("s", S)], [("x", F, [2], []), ("l", L, [], [])])
parse("absent_sparse", BOTH, [("zz", S)], [("x", F, [2], [])])
parse("matrix", BOTH, [], [("x", F, [1, 2], [[0., 1.]])])
parse("count", BOTH, [], [("x", F, [3], [])])
parse("type", BOTH, [], [("x", L, [2], [])])
parse("missing", BOTH, [], [("m", L, [2], [])])
parse("default", BOTH, [], [("m", L, [2], [7, 8])])
parse("no_kind_default", BOTH, [], [("n", L, [], 9)])
parse("no_kind", BOTH, [], [("n", L, [], [])])
parse("no_values", BOTH, [], [("e", F, [], 9.)])
parse("no_values_type", BOTH, [], [("e", L, [], 9)])
parse("sparse_no_values", BOTH, [("e", F)])
parse("sparse_no_values_type", BOTH, [("e", L)])
parse("sparse_no_kind", BOTH, [("n", L)])
parse("sparse_type", BOTH, [("x", L)])
for key, dtype, row, filling in (("x", F, [], [0.5]), ("s", S, [], [b"P"]), ("s", S, [2], [b"P"]), ("m", S, [2], [b"P"]), ("m", S, [], [b"P"]),
                                 ("n", S, [], [b"P"]), ("e", F, [], [1.]), ("e", S, [], [b"P"]), ("x", F, [], [])):
    parse(f"rows_{key}_{len(row)}_{len(filling)}_{dtype.name}", BOTH, [], [(key, dtype, [None, *row], filling)])
parse("rows_three", [A, example(s=[b"1", b"2", b"3"]), B, example()], [("s", S)], [("s2", S, [None], [b"P"]), ("x", F, [2], [9., 9.])])
parse("none", [], [("x", F)], [("l", L, [2], []), ("y", F, [None], [0.])])
parse("empty", [b""], [("x", F)], [("l", L, [], 4)])
parse("merged", [A + B], [("s", S)], [("x", F, [2], [])])
parse("cut", [A[:-1]], [("s", S)])
parse("unpacked", [feature(b"x", field(2, b"\x0d" + struct.pack("<f", 1.5) + b"\x0d" + struct.pack("<f", 2.5)))], [("x", F)])
parse("unpacked_integers", [feature(b"x", field(3, b"\x08\x05\x08\xac\x02"))], [("x", L)])
parse("odd_packed", [feature(b"x", field(2, b"\x0a\x05" + struct.pack("<f", 1.5) + b"\0"))], [("x", F)], ours="invalidargument")
parse("unknown_field", [feature(b"x", field(3, b"\x0a\x01\x07")) + field(7, b"??")], [("x", L)])
parse("cut_within", [feature(b"x", field(3, b"\x0a\x01\x07"))[:-1]], [("x", L)])
parse("value_first", [field(1, field(1, field(2, field(3, b"\x0a\x01\x05")) + field(1, b"x")))], [("x", L)])
parse("twice", [field(1, field(1, field(1, b"x") + field(2, field(3, b"\x0a\x01\x05"))) + field(1, field(1, b"x") + field(2, field(
    3, b"\x0a\x01\x06"))))], [("x", L)])

for key, dtype, split in itertools.product("xlsenm", (F, L, S), (I, L)):
    parse_v2(f"ragged_{key}_{dtype.name}_{split.name}", [A, example(), B], ragged=[(key, dtype, split)])
    parse_v2(f"ragged_single_{key}_{dtype.name}_{split.name}", A, ragged=[(key, dtype, split)])
ALL = dict(sparse=[("s", S)], dense=[("x", F, [2], [])], ragged=[("l", L, I), ("e", F, L)])
parse_v2("ragged_beside", [A, B], **ALL)
parse_v2("ragged_beside_single", A, **ALL)
parse_v2("ragged_none", [], **ALL)
parse_v2("ragged_empty_single", b"", ragged=[("l", L, I)])
parse_v2("ragged_cut", [A[:-1]], ragged=[("l", L, I)])
for number, (serialized, names) in enumerate((([A, B], ["a", "b"]), ([A, B], ["a"]), ([A], "a"), (A, "a"), (A, ["a"]), (A, ["a", "b"]))):
    parse_v2(f"names{number}", serialized, sparse=[("s", S)], names=names)


def parse_by_keys(name, **keys):
    """One type of each kind, whatever the number of keys."""
    checks.add("keys_" + name, lambda: [tensor for part in raw.ParseExampleV2(
        serialized=[A], names=tf.zeros([0], S), **{f"{kind}_keys": tf.constant(keys.get(kind, [key]), S) for kind, key in (
            ("sparse", "s"), ("dense", "x"), ("ragged", "l"))}, dense_defaults=[tf.zeros([0], F)], num_sparse=1, sparse_types=[S],
        ragged_value_types=[L], ragged_split_types=[I], dense_shapes=[[2]]) for tensor in part])


parse_by_keys("one")
for kind, key in (("sparse", "s"), ("dense", "x"), ("ragged", "l")):
    parse_by_keys(kind + "_none", **{kind: []})
    parse_by_keys(kind + "_two", **{kind: [key, "y"]})
    parse_by_keys(kind + "_scalar", **{kind: key})
    parse_by_keys(kind + "_matrix", **{kind: [[key]]})
features = {"x": tf.FixedLenFeature([2], F), "s": tf.VarLenFeature(S), "l": tf.io.RaggedFeature(L), "m": tf.FixedLenSequenceFeature(
    [], S, allow_missing=True)}
checks.add("parse_example", lambda: tf.nest.flatten(tf.parse_example([A, B], features), expand_composites=True))
checks.add("parse_single_example", lambda: tf.nest.flatten(tf.parse_single_example(A, features), expand_composites=True))


# --- sparse to dense
def to_dense(name, indices, shape, values, default=0, dtype=F):
    """With and without a look at the order; of constants, and of tensors whose shape is not known."""
    for strict, known, index in itertools.product((True, False), (True, False), (I, L)):
        make = tf.constant if known else lambda value, kind: tf.placeholder_with_default(tf.constant(value, kind), None)
        if index == I and np.size(shape) and np.max(np.abs(shape)) >= 2**31:
            continue
        checks.add(f"dense_{name}_{strict}_{known}_{index.name}", lambda make=make, strict=strict, index=index: [raw.SparseToDense(
            sparse_indices=make(indices, index), output_shape=make(shape, index), sparse_values=make(values, dtype),
            default_value=make(default, dtype), validate_indices=strict)])


to_dense("scalar", 2, [4], 5.)
to_dense("scalar_list", 2, [4], [5.])
to_dense("vector", [1, 3], [5], [7., 8.])
to_dense("vector_one_value", [1, 3], [5], 7.)
to_dense("matrix", [[0, 1], [1, 2]], [2, 3], [7., 8.], 9.)
to_dense("cube", [[0, 1, 1], [0, 2, 0], [1, 0, 1]], [2, 3, 2], [7., 8., 9.])
to_dense("strings", [[0, 1], [1, 0]], [2, 3], ["a", "b"], "-", dtype=S)
to_dense("indices_cube", [[[0]]], [2], [1.])
to_dense("repeated", [1, 1], [5], [7., 8.])
to_dense("falling", [3, 1], [5], [7., 8.])
to_dense("falling_rows", [[1, 2], [0, 1]], [2, 3], [7., 8.])
to_dense("falling_columns", [[1, 2], [1, 1]], [2, 3], [7., 8.])
to_dense("beyond", [1, 5], [5], [7., 8.])
to_dense("below", [-1, 1], [5], [7., 8.])
to_dense("beyond_column", [[0, 3]], [2, 3], [7.])
to_dense("narrow", [[0, 1]], [2, 3, 4], [7.])
to_dense("vector_in_matrix", [0, 1], [2, 3], [7., 8.])
to_dense("scalar_in_matrix", 0, [2, 3], 7.)
to_dense("few_values", [0, 1], [5], [1.])
to_dense("no_values", [0, 1], [5], [])
to_dense("many_values", [0, 1], [5], [1., 2., 3.])
to_dense("values_matrix", [0, 1], [5], [[1., 2.]])
to_dense("default_list", [0], [5], [1.], [2.])
to_dense("none", np.zeros([0, 2]), [2, 3], [], 4.)
to_dense("none_vector", [], [3], [])
to_dense("none_vector_in_matrix", [], [2, 3], [])
to_dense("no_room", np.zeros([0, 2]), [0, 3], [])
to_dense("no_room_one", [[0, 0]], [0, 3], [1.])
to_dense("no_dimensions", np.zeros([1, 0]), [], [4.])
to_dense("no_dimensions_none", np.zeros([0, 0]), [], [])
to_dense("no_dimensions_two", np.zeros([2, 0]), [], [4., 5.])
to_dense("no_dimensions_scalar", 0, [], 4.)
to_dense("nine_dimensions", np.zeros([1, 9]), [1] * 9, [4.])
to_dense("overflow", [[0, 0]], [2**40, 2**40], [4.])
to_dense("overflow_none", np.zeros([0, 2]), [2**40, 2**40], [])
to_dense("too_large", [0], [2**60], [4.])
for dtype in (tf.half, tf.bfloat16, D, tf.complex64, tf.complex128, tf.bool, tf.int8, tf.uint8, tf.int16, tf.uint16, I, tf.uint32, L, tf.uint64):
    checks.add("dense_" + dtype.name, lambda dtype=dtype: [raw.SparseToDense(
        sparse_indices=[1], output_shape=[2], sparse_values=tf.ones([1], dtype), default_value=tf.zeros([], dtype))])
for number, shape in enumerate(([-3], 3, [[3]])):
    checks.add(f"dense_no_shape{number}", lambda shape=shape: [raw.SparseToDense(
        sparse_indices=[0], output_shape=tf.placeholder_with_default(tf.constant(shape), None), sparse_values=[4.], default_value=0.)])


@checks.test
def test_both_give_the_same_values_or_class_of_error(check):
    failure = check.failure()
    assert failure is None, failure


def test_some_checks_are_refused_and_most_are_not():
    refused = sum(check.error is not None for check in checks.all)
    assert 100 < refused < len(checks.all) - 100, f"{refused} of {len(checks.all)}"


def test_numbers_of_floats_are_equal_to_the_bit():
    for check in checks.all:
        if check.name.startswith("number") and check.error is None and not check.job.error:
            for name, theirs in check.values.items():
                np.testing.assert_array_equal(check.job.values[name], theirs, check.name)
