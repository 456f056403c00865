"""What a line of op_table.py is, and the tables of cases that many lines share."""
import dataclasses
import typing

import numpy as np

from oracle import tf


def i32(value):
    return np.array(value, np.int32)


def i64(value):
    return np.array(value, np.int64)


def mask(value):
    return np.array(value, bool)


TYPE = object()


@dataclasses.dataclass(frozen=True)
class Held:
    shape: tuple


@dataclasses.dataclass
class Steps:
    """What `build` returns when it takes an initialiser and a step before the fetches."""
    init: typing.Any
    fetches: list
    target: typing.Any = None


@dataclasses.dataclass
class Line:
    name: str
    build: typing.Callable
    cases: dict
    values: str = "any"        # or "positive", "coarse" (with equal ones), "unit" (0..1), "tiny" (exact products)
    types: tuple = None        # of the kernels if None, a few of them for an op's second line and on
    every_type: bool = False   # on a later line, too
    gradient: bool = True
    label: str = ""            # tells two lines of one op apart
    seen: typing.Callable = None  # of each value what is compared, where equal values may be other bytes

    @property
    def id(self):
        return self.name + ("-" + self.label if self.label else "")


OPS = []


def op(name, build, cases, **options):
    OPS.append(Line(name, build, cases, **options))


def cases(scalar, zero, plain):
    """`plain` is the broadcasting case where the op broadcasts; it is what placeholders are fed with."""
    return {"scalar": scalar, "zero": zero, "broadcast": plain, "unknown_dim": plain, "unknown_rank": plain}


FLOATS = (tf.float32, tf.float64)
# For ops that only move elements, whichever type they have.
MOVED = (tf.float32, tf.float64, tf.int32, tf.int64, tf.uint8, tf.int16, tf.bool, tf.string, tf.half, tf.bfloat16,
         tf.complex64)
UNARY = cases([()], [(0, 3)], [(2, 3)])
BINARY = cases([(), ()], [(2, 0), (1,)], [(2, 1, 3), (4, 1)])
SAME = cases([(), ()], [(0, 3), (0, 3)], [(2, 3), (2, 3)])
LEFT_SCALAR = cases([(), (1,)], [(), (0, 2)], [(), (3, 5)])
ROWS = cases([(1, 1)], [(0, 3)], [(4, 5)])
WIDE = cases([(1,)], [(3, 0)], [(37, 53)])
