"""Checkpoint files both ways: TensorFlow saves, Runnel copies value by value, TensorFlow restores.

RUNNEL_BUILD names the build folder. Random values of every dtype that SaveV2 takes but variant.
"""
import os
import pathlib
import subprocess

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("RUNNEL_BUILD", ROOT / "build")) / "tests/interop/copy_checkpoint"
TYPES = [tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16,
         tf.uint32, tf.uint64, tf.bool, tf.complex64, tf.complex128, tf.string, tf.qint8, tf.quint8, tf.qint16, tf.quint16, tf.qint32]
# A byte an element, whatever their bits.
SMALL = [tf.as_dtype(n) for n in ("float8_e5m2", "float8_e4m3fn", "int4", "uint4", "int2", "uint2", "float4_e2m1fn")]
TYPES += SMALL
JOINED = [tf.float32, tf.float64, tf.int8, tf.int32, tf.int64, tf.complex64]  # TensorFlow joins parts of few types
SHAPES = [(), (0, 3), (1,), (7,), (4, 3), (2, 3, 5)]


def value(dtype, shape, rng):
    if dtype == tf.string:
        return np.array([rng.bytes(int(rng.integers(0, 200))) for _ in range(int(np.prod(shape)))], object).reshape(shape)
    if dtype == tf.bool:
        return rng.integers(0, 2, shape).astype(bool)
    raw = rng.integers(0, 2, shape) if dtype.is_quantized or dtype in SMALL else rng.integers(0, 100, shape)
    return np.asarray(raw).astype(dtype.as_numpy_dtype)


def save(prefix, values):
    with tf.Graph().as_default(), tf.Session() as session:
        holders = {name: tf.placeholder(dtype, v.shape) for name, (dtype, v) in values.items()}
        names = sorted(values)
        session.run(tf.raw_ops.SaveV2(prefix=str(prefix), tensor_names=names, shape_and_slices=[""] * len(names),
                                      tensors=[holders[n] for n in names]), {holders[n]: values[n][1] for n in names})


def restore(prefix, values, specs=None):
    names = sorted(values)
    with tf.Graph().as_default(), tf.Session() as session:
        return dict(zip(names, session.run(tf.raw_ops.RestoreV2(
            prefix=str(prefix), tensor_names=names, shape_and_slices=specs or [""] * len(names),
            dtypes=[values[n][0] for n in names]))))


@pytest.fixture(scope="module")
def values():
    rng = np.random.default_rng(1)
    return {f"{dtype.name}/{'x'.join(map(str, shape)) or 'scalar'}": (dtype, value(dtype, shape, rng))
            for dtype in TYPES for shape in SHAPES}


def copy(source, target, *more):
    subprocess.run([PROGRAM, str(source), str(target), *more], check=True)


def equal(a, b):
    a, b = (np.array(x, object if isinstance(x, bytes) else None) for x in (a, b))  # a scalar string comes as bytes
    return a.shape == b.shape and (a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes())


def test_a_copy_has_the_bytes_that_tensorflow_wrote_and_restores(tmp_path, values):
    save(tmp_path / "theirs", values)
    copy(tmp_path / "theirs", tmp_path / "run/ours-7")
    for suffix in (".index", ".data-00000-of-00001"):
        assert (tmp_path / f"run/ours-7{suffix}").read_bytes() == (tmp_path / f"theirs{suffix}").read_bytes()
    restored = restore(tmp_path / "run/ours-7", values)
    assert [n for n in values if not equal(restored[n], values[n][1])] == []
    assert tf.train.latest_checkpoint(str(tmp_path / "run")) == str(tmp_path / "run/ours-7")


def test_parts_are_joined_by_tensorflow(tmp_path, values):
    save(tmp_path / "theirs", values)
    copy(tmp_path / "theirs", tmp_path / "parts", "parts")
    joined = {n: v for n, v in values.items() if v[0] in JOINED}
    restored = restore(tmp_path / "parts", joined)
    assert [n for n in joined if not equal(restored[n], values[n][1])] == []
    region = restore(tmp_path / "parts", {"float32/4x3": values["float32/4x3"]}, ["4 3 1,2:0,3"])
    assert equal(region["float32/4x3"], values["float32/4x3"][1][1:3])
    copy(tmp_path / "parts", tmp_path / "whole")  # and by Runnel
    assert (tmp_path / "whole.index").read_bytes() == (tmp_path / "theirs.index").read_bytes()


@pytest.mark.parametrize("name", ["with space", "a\"b", "é漢", "tab\tnewline\n", "-x"])
def test_names_of_directories_and_prefixes_are_literal(tmp_path, name):
    values = {"v": (tf.float32, np.float32(3))}
    save(tmp_path / "theirs", values)
    copy(tmp_path / "theirs", tmp_path / name / name)
    assert equal(restore(tmp_path / name / name, values)["v"], np.float32(3))
    assert tf.train.get_checkpoint_state(str(tmp_path / name)).model_checkpoint_path == str(tmp_path / name / name)
