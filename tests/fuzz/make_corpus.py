"""Writes corpus/: small sound files of each format, and the ones whose damage was, or could be, a trap. Run by hand."""
import gzip
import pathlib
import struct
import zlib

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden"
EMPTY = struct.pack("<II", 0, 1)  # the restarts of a block with one


def crc(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    value ^= 0xFFFFFFFF
    return ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def entry(key, value, shared=0):
    return varint(shared) + varint(len(key)) + varint(len(value)) + key + value


def sealed(block, kind=0):
    return block + bytes([kind]) + struct.pack("<I", crc(block + bytes([kind])))


def packed(plain, claimed=None):
    return sealed(varint(len(plain) if claimed is None else claimed) + bytes([len(plain) - 1 << 2]) + plain, 1)


def table(data, index=None, place=None):
    """Of sealed blocks; `place` is what the index block says of the data block, `index` the whole index block."""
    place = varint(0) + varint(len(data) - 5) if place is None else place
    index = sealed(entry(b"\xff", place) + EMPTY) if index is None else index
    meta = sealed(EMPTY)
    footer = varint(len(data)) + varint(8) + varint(len(data) + len(meta)) + varint(len(index) - 5)
    return data + meta + index + footer.ljust(40, b"\0") + bytes.fromhex("57fb808b247547db")


def field(number, value):
    """A protobuf field: a number as varint, bytes as they are."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def example(*features):
    return field(1, b"".join(field(1, field(1, key) + field(2, kind)) for key, kind in features))


def shape(*dims):
    return field(2, b"".join(field(2, field(1, dim)) for dim in dims))


def record(payload):
    head = struct.pack("<Q", len(payload))
    return head + struct.pack("<I", crc(head)) + payload + struct.pack("<I", crc(payload))


def event(step, *kinds):
    return record(bytes([9]) + struct.pack("<d", 1.5) + field(2, step) + b"".join(kinds))


def value(tag, kind, metadata=b""):
    return field(1, field(1, tag) + kind + metadata)


def scalar(tag, number):
    return field(5, value(tag, bytes([2 << 3 | 5]) + struct.pack("<f", number)))


def packed_doubles(number, *values):
    return field(number, struct.pack(f"<{len(values)}d", *values))


def plugin(name):
    return field(9, field(1, field(1, name)))


CRC = bytes([6 << 3 | 5]) + struct.pack("<I", 0x1F273806)
HEADER = field(1, 1) + field(3, field(1, 1))
SCALAR = field(1, 1) + shape() + field(5, 4) + CRC
PART = field(7, field(1, field(1, 1) + field(2, 2)) + field(1, b""))
SOUND = entry(b"", HEADER) + entry(b"a", SCALAR) + entry(b"b", field(1, 1) + shape(2) + field(4, 4) + field(5, 8) + CRC)
BLOCK = sealed(SOUND + EMPTY)

FILES = {
    "index/plain": table(BLOCK),
    "index/golden": (GOLDEN / "linear_ref/linear.ckpt-100.index").read_bytes(),
    "index/parts": (GOLDEN / "partitioned/odd.ckpt.index").read_bytes(),
    "index/shared_keys": table(sealed(entry(b"", HEADER) + entry(b"scope/a", SCALAR) + entry(b"b", SCALAR, 6) + EMPTY)),
    "index/packed": table(packed(entry(b"", HEADER) + entry(b"a", SCALAR) + EMPTY)),
    "index/packed_index": table(BLOCK, packed(entry(b"\xff", varint(0) + varint(len(BLOCK) - 5)) + EMPTY)),
    "index/packed_lies": table(packed(entry(b"", HEADER) + EMPTY, 1 << 31)),
    "index/place_wraps": table(BLOCK, place=varint(0) + varint((1 << 64) - 5)),
    "index/place_huge": table(BLOCK, place=varint(0) + varint(1 << 40)),
    "index/keys_fall": table(sealed(entry(b"b", SCALAR) + entry(b"a", SCALAR) + EMPTY)),
    "index/many_restarts": table(sealed(SOUND + struct.pack("<II", 0, 0xFFFFFFFF))),
    "index/shares_too_much": table(sealed(entry(b"a", SCALAR, 9) + EMPTY)),
    "index/unknown_kind": table(sealed(SOUND + EMPTY, 7)),
    "entry/header": HEADER,
    "entry/header_of_many": field(1, 99999) + field(2, 1) + field(3, field(1, 1) + field(2, 2) + field(3, 1)),
    "entry/scalar": SCALAR,
    "entry/second_file": field(1, 7) + shape(3, 2) + field(3, 1) + field(4, 40) + field(5, 60) + CRC,
    "entry/parts": field(1, 1) + shape(4, 2) + PART + field(7, field(1, field(2, 1)) + field(1, field(2, 2))),
    "entry/elements_wrap": field(1, 1) + shape(1 << 32, 1 << 32) + field(5, 4) + CRC,
    "entry/negative": field(1, 1) + shape((1 << 64) - 1) + field(4, (1 << 64) - 8) + field(5, (1 << 63) - 1) + CRC,
    "entry/wide_type": field(1, (1 << 32) + 1) + shape(1) + field(5, 4) + CRC,
    "state/timestamps": (GOLDEN / "state/checkpoint_timestamps").read_bytes(),
    "state/control": (GOLDEN / "state/checkpoint_odd_control").read_bytes(),
    "state/written_by_hand": b"# kept\nmodel_checkpoint_path: 'm-' \"2\"  all_model_checkpoint_paths:\"\\x6d-1\" last_preserved_timestamp: inf",
    "state/other_field": b'model_checkpoint_path: "m" unknown { a: 1 [x.y]: <z: 2> }',
    "state/numbers": b'model_checkpoint_path: "m" all_model_checkpoint_timestamps: [nan, -inf, 1e999, 0x10, -.5f]',
    "meta/stripped": (GOLDEN / "linear_ref/linear.ckpt-100.meta").read_bytes(),
    "meta/text": b'graph_def { node { name: "a" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value '
                 b'{ tensor { dtype: DT_FLOAT tensor_shape { dim { size: 3 } } float_val: 1 } } } } }\n',
    "meta/odd_names": b'graph_def { node { name: "a" op: "NoOp" attr { key: "_class" value { list { s: "x" s: "loc:@" s: "^:1" } } } attr { '
                      b'key: "frame_name" value { s: ":1" } } attr { key: "shared_name" value { s: "a" } } } } collection_def { key: "names" '
                      b'value { bytes_list { value: "a" value: "^a" value: "a:0" value: ":" } } } collection_def { key: "cond_context" value '
                      b'{ bytes_list { value: "\\n\\002:1" value: "\\377" value: "" } } } collection_def { key: "unbound_inputs" value { '
                      b'int64_list { value: 1 } } } saver_def { restore_op_name: "^" }\n',
    "meta/wide_constant": field(2, field(1, field(1, b"c") + field(2, b"Const") + field(5, field(1, b"value") + field(
        2, field(8, field(1, 1) + field(2, b"".join(field(2, field(1, 1 << 20)) for _ in range(4)))))))),
    "events/scalars": event(0, field(3, b"brain.Event:2")) + event(1, scalar(b"a", 1)) + event(2, scalar(b"a", 2)),
    "events/restart": event(0, field(3, b"brain.Event:2")) + b"".join(
        event(step, field(7, field(1, 1))) + event(step, scalar(b"a", 1)) + event(step + 1, scalar(b"b", 2)) for step in (3, 1, 2)),
    "events/no_version": event(5, scalar(b"a", 1)) + event(3, scalar(b"a", 2)) + event(4, field(7, field(1, 1))),
    "events/histogram": event(1, field(5, value(b"h", field(5, packed_doubles(6, -1, 0, 2, 9) + packed_doubles(7, 0, 3, 4, 0))))),
    "events/unequal_histogram": event(1, field(5, value(b"h", field(5, packed_doubles(6, 1) + packed_doubles(7, 1, 2, 3))))),
    "events/picture_and_sound": event(1, field(5, value(b"i", field(4, field(1, 2) + field(2, 3) + field(4, b"png"))) + value(
        b"s", field(6, field(2, 1) + field(4, b"wav") + field(5, b"audio/wav"))))),
    "events/text": event(1, field(5, value(b"t", field(8, field(1, 7) + field(8, b"words")), plugin(b"text")))) + event(
        2, field(5, value(b"t", field(8, field(1, 7) + field(8, b"more"))))),
    "events/sounds": event(1, field(5, value(b"s", field(8, field(1, 7) + shape(2, 2) + field(8, b"a") + field(8, b"") + field(
        8, b"b") + field(8, b"")), plugin(b"audio")))),
    "events/graphs": event(0, field(4, b"graph")) + event(0, field(9, b"meta")) + event(7, field(8, field(1, b"step") + field(2, b"m"))),
    "events/hparams": event(0, field(5, value(b"_hparams_/experiment", b"", plugin(b"hparams")))),
    "events/wide_tensor": event(1, field(5, value(b"w", field(8, field(1, 1) + field(2, b"".join(
        field(2, field(1, 1 << 20)) for _ in range(4))))))),
    "events/no_event": record(b"\xff\xff") + event(1, scalar(b"a", 1)),
    "events/zeros": event(1, scalar(b"a", 1)) + bytes(40),
    "example/each_kind": example((b"x", field(2, field(1, struct.pack("<2f", 1, 2)))), (b"n", field(3, field(1, b"\5\xac\2"))), (
        b"s", field(1, field(1, b"a") + field(1, b"")))),
    "example/unpacked": example((b"x", field(2, b"\x0d" + struct.pack("<f", 1) + b"\x0d" + struct.pack("<f", 2))), (
        b"n", field(3, field(1, 5) + field(1, b"\7")))),
    "example/twice": 2 * example((b"n", field(3, field(1, b"\5"))), (b"n", field(3, field(1, b"\6"))), (b"\xff", field(2, b""))),
    "example/no_kind": example((b"x", b"")) + field(1, field(1, field(1, b"n"))) + field(9, b"unknown"),
    "example/two_kinds": example((b"n", field(1, field(1, b"a")) + field(3, field(1, b"\5")))),
    "example/length_lies": example((b"x", field(2, b"\x0a\xff\xff\xff\x7f1234"))),
    "csv/plain": b'1,2.5,x,"a ""b"", c"',
    "csv/empty": b",,,",
    "csv/numbers": b" -7 , +1e3 ,0x1p3,inf",
    "csv/huge_number": b"9223372036854775807,1e-99999999999999999999,,-0.0000000000000000000000000000000000000000000000001e400",
    "csv/line_ends": b'\n1,2\r\n,"3\n",4',
    "records/plain": record(b"one") + record(b"") + record(b"three"),
    "records/zlib": zlib.compress(record(b"one") + record(b"x" * 3000), 9),
    "records/gzip": gzip.compress(record(b"one") + record(b"two"), 9, mtime=0) + gzip.compress(record(b""), 9, mtime=0),
    "records/bomb": zlib.compress(struct.pack("<QI", 1 << 30, crc(struct.pack("<Q", 1 << 30))) + bytes(1 << 20), 9),
    "events/length_lies": struct.pack("<QI", 1 << 60, crc(struct.pack("<Q", 1 << 60))) + b"short",
}

for name, data in FILES.items():
    path = HERE / "corpus" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
