#!/usr/bin/env python3
"""Checkpoint indexes that TensorFlow reads but does not write: small blocks, snappy blocks, other restart
intervals, an entry whose slice overlaps. Each is written by the small table writer below and then read back
with RestoreV2, so the files are known to be acceptable.

usage: make_foreign.py [OUT]     writes OUT/foreign
"""
import os
import shutil
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from decode import crc32c, mask, MAGIC
from goldlib import np, out_dir, session, tf


def put_varint(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def snappy(b):
    """A real compressor in miniature: 4-byte matches at distance < 2048 as one kind of copy, else literals."""
    out, i, lit, seen = bytearray(put_varint(len(b))), 0, 0, {}

    def flush(upto):
        j = lit
        while j < upto:
            n = min(upto - j, 65536)
            if n <= 60:
                out.append((n - 1) << 2)
            elif n <= 256:
                out.append(60 << 2)
                out.append(n - 1)
            else:
                out.append(61 << 2)
                out.extend(struct.pack("<H", n - 1))
            out.extend(b[j:j + n])
            j += n
    while i + 4 <= len(b):
        key = b[i:i + 4]
        at = seen.get(key)
        seen[key] = i
        if at is not None:
            n = 4
            while n < 64 and i + n < len(b) and b[at + n] == b[i + n]:
                n += 1
            off = i - at
            flush(i)
            if n <= 11 and off < 2048:
                out.append(1 | (n - 4) << 2 | (off >> 8) << 5)
                out.append(off & 255)
            elif off < 65536:
                out.append(2 | (n - 1) << 2)
                out.extend(struct.pack("<H", off))
            else:
                out.append(3 | (n - 1) << 2)
                out.extend(struct.pack("<I", off))
            i += n
            lit = i
        else:
            i += 1
    flush(len(b))
    return bytes(out)


class Block:
    def __init__(self, interval):
        self.b, self.restarts, self.n, self.last, self.interval = bytearray(), [0], 0, b"", interval

    def add(self, k, v):
        shared = 0
        if self.n == self.interval:
            self.restarts.append(len(self.b))
            self.n = 0
        elif self.b:
            while shared < min(len(k), len(self.last)) and k[shared] == self.last[shared]:
                shared += 1
        self.b += put_varint(shared) + put_varint(len(k) - shared) + put_varint(len(v)) + k[shared:] + v
        self.last = k
        self.n += 1

    def done(self):
        return bytes(self.b) + b"".join(struct.pack("<I", r) for r in self.restarts) + struct.pack("<I", len(self.restarts))


def write_table(path, items, block_size, interval, compress):
    out, index, cur = bytearray(), [], Block(interval)

    def emit(block):
        raw = block.done()
        kind = b"\0"
        if compress:
            raw, kind = snappy(raw), b"\1"
        off = len(out)
        out.extend(raw + kind + struct.pack("<I", mask(crc32c(raw + kind))))
        return put_varint(off) + put_varint(len(raw))
    for k, v in items:
        cur.add(k, v)
        if len(cur.b) >= block_size:
            index.append((k, emit(cur)))  # the last key itself is a valid separator
            cur = Block(interval)
    if cur.b:
        index.append((cur.last, emit(cur)))
    meta = emit(Block(interval))
    ib = Block(1)
    for k, h in index:
        ib.add(k, h)
    foot = meta + emit(ib)
    out.extend(foot + bytes(40 - len(foot)) + struct.pack("<Q", MAGIC))
    with open(path, "wb") as fh:
        fh.write(out)


def entry(dtype, shape, offset, data):
    b = b"\x08" + put_varint(dtype)
    sh = b"".join(b"\x12" + put_varint(len(d)) + d for d in (b"\x08" + put_varint(n) for n in shape))
    b += b"\x12" + put_varint(len(sh)) + sh
    if offset:
        b += b"\x20" + put_varint(offset)
    if data:
        b += b"\x28" + put_varint(len(data))
    return b + b"\x35" + struct.pack("<I", mask(crc32c(data)))


d = out_dir("foreign")
shutil.rmtree(d)
os.makedirs(d)
os.chdir(d)
keys = ["layer_%03d/%s" % (i // 2, "kernel" if i % 2 else "bias") for i in range(600)]
data = bytearray()
items = [(b"", bytes.fromhex("08011a020801"))]
for i, k in enumerate(sorted(keys)):
    raw = np.array([i], dtype=np.int16).tobytes()
    items.append((k.encode(), entry(5, [1], len(data), raw)))
    data += raw
for name, bs, iv, z in (("block4k", 4096, 16, False), ("snappy", 4096, 16, True), ("interval1", 1 << 20, 1, False),
                        ("norestart", 1 << 20, 1 << 20, True)):
    write_table(name + ".index", items, bs, iv, z)
    with open(name + ".data-00000-of-00001", "wb") as fh:
        fh.write(data)
    tf.reset_default_graph()
    want = sorted(keys)
    r = tf.raw_ops.RestoreV2(prefix=name, tensor_names=want, shape_and_slices=[""] * 600, dtypes=[tf.int16] * 600)
    try:
        with session() as s:
            got = s.run(r)
        ok = [int(g[0]) for g in got] == list(range(600))
    except Exception as e:
        ok = str(e).split("\n")[0][:200]
    print(name, "read by TensorFlow:", ok, os.path.getsize(name + ".index"), "bytes")
