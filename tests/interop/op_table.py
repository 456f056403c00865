"""Every op that is compared with TensorFlow, a line each.

    op("Sub", tf.subtract, BINARY)

builds `tf.subtract(x, y)` on each case of BINARY (a scalar, zero elements, a broadcast; the last again from
placeholders with unknown dimensions and of unknown rank), for each dtype that Runnel has a kernel for, with
`tf.gradients` where the dtype is float or double, and compares all outputs and gradients. To add an op, add its
line. Ops that need an axis, sizes or indices have a table of cases of their own: a shape stands for a random tensor
of the line's dtype, i32([...]) for that value, TYPE for the dtype, Held(shape) for an array (an initial value).
"""
import numpy as np

import both_sides
import queue_cases
import op_table_summaries  # noqa: F401  adds lines of its own
from op_line import (BINARY, FLOATS, LEFT_SCALAR, MOVED, OPS, ROWS, SAME, TYPE, UNARY, WIDE, Held, Steps, cases, i32, i64, mask, op)
from oracle import tf

raw = tf.raw_ops

# --- leaves and what passes values on
op("Const", tf.identity, UNARY, types=MOVED)
op("Placeholder", tf.identity, UNARY, types=MOVED)
op("PlaceholderWithDefault", lambda x: tf.placeholder_with_default(x, None), UNARY)
op("Identity", tf.identity, UNARY)
op("StopGradient", lambda x: x + tf.stop_gradient(x), UNARY, types=FLOATS)
op("PreventGradient", lambda x: raw.PreventGradient(input=x), UNARY, gradient=False)


def after_nothing(x):
    with tf.control_dependencies([tf.no_op()]):
        return tf.identity(x)


op("NoOp", after_nothing, UNARY, types=FLOATS)


def after_check(x):
    with tf.control_dependencies([raw.Assert(condition=True, data=[x, "x"])]):
        return tf.identity(x)


op("Assert", after_check, UNARY, types=MOVED, gradient=False)

# --- elementwise
for name in ("Add", "AddV2", "Sub", "Mul", "SquaredDifference", "Maximum", "Minimum"):
    for label, table in (("", BINARY), ("same", SAME), ("left", LEFT_SCALAR)):
        op(name, lambda x, y, f=getattr(raw, name): f(x=x, y=y), table, label=label)
for name in ("Div", "RealDiv", "TruncateDiv", "FloorDiv", "FloorMod"):
    for label, table in (("", BINARY), ("same", SAME)):
        op(name, lambda x, y, f=getattr(raw, name): f(x=x, y=signed_divisor(y)), table, label=label)
for label, table in (("", BINARY), ("same", SAME)):
    op("DivNoNan", lambda x, y: raw.DivNoNan(x=x, y=y), table, label=label, values="coarse")


def signed_divisor(y):
    """Never zero, and of both signs where the dtype has them."""
    return y + tf.cast(tf.equal(y, tf.zeros_like(y)), y.dtype) * tf.constant(3, y.dtype)


for name in ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"):
    for label, table in (("", BINARY), ("same", SAME)):
        op(name, lambda x, y, f=getattr(raw, name): f(x=x, y=y), table, values="coarse", label=label)
for name in ("LogicalAnd", "LogicalOr"):
    op(name, lambda x, y, f=getattr(raw, name): f(x=x, y=y), BINARY, types=(tf.bool,))
op("LogicalNot", tf.logical_not, UNARY, types=(tf.bool,))
for name in ("Neg", "Square", "Abs", "Sign", "Exp", "Tanh", "Sigmoid"):
    for label, table in (("", UNARY), ("wide", WIDE)):
        op(name, lambda x, f=getattr(raw, name): f(x=x), table, label=label)
for name in ("Sqrt", "Rsqrt", "Log", "Reciprocal", "Inv"):
    for label, table in (("", UNARY), ("wide", WIDE)):
        op(name, lambda x, f=getattr(raw, name): f(x=x), table, label=label, values="positive")
for name in ("SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad", "TanhGrad", "SigmoidGrad"):
    op(name, lambda y, dy, f=getattr(raw, name): f(y=y, dy=dy), SAME, values="positive")
for name in ("Sqrt", "Rsqrt", "Reciprocal", "Tanh", "Sigmoid", "Log", "Exp"):
    op(name, lambda x, f=getattr(raw, name): tf.gradients(f(x=x), x)[0], UNARY, values="positive", types=FLOATS, label="twice")
op("AddN", lambda *x: tf.add_n(list(x)), SAME)
op("AddN", lambda *x: tf.add_n(list(x)), cases([()] * 5, [(0, 3)] * 5, [(7, 9)] * 5), label="five")
for target in ("float32", "float64", "int32", "int64", "uint8", "int8", "int16", "bool"):
    op("Cast", lambda x, t=target: raw.Cast(x=x, DstT=tf.as_dtype(t)), UNARY, values="tiny", label="to_" + target,
       every_type=True)
SELECT = cases([mask(True), (), ()], [mask(np.zeros((0, 3))), (0, 3), (0, 3)],
               [mask([[True, False, True], [False, False, True]]), (2, 3), (2, 3)])
op("Select", lambda c, x, y: raw.Select(condition=c, x=x, y=y), SELECT, types=MOVED)
op("Select", lambda c, x, y: raw.Select(condition=c, x=x, y=y), label="rows", types=MOVED,
   cases=cases([mask(False), (2,), (2,)], [mask([True, False]), (2, 0), (2, 0)], [mask([True, False]), (2, 3), (2, 3)]))
op("SelectV2", lambda c, x, y: raw.SelectV2(condition=c, t=x, e=y), types=MOVED,
   cases=cases([mask(False), (), ()], [mask([True]), (2, 0), ()], [mask([[True], [False]]), (2, 3), (3,)]))

# --- products and reductions
for ta in (False, True):
    for tb in (False, True):
        op("MatMul", lambda a, b, ta=ta, tb=tb: raw.MatMul(a=a, b=b, transpose_a=ta, transpose_b=tb), values="tiny",
           label=f"{ta:d}{tb:d}", cases=cases(*[[(k, m) if ta else (m, k), (n, k) if tb else (k, n)]
                                               for m, k, n in ((1, 1, 1), (3, 0, 2), (4, 5, 3))]))
op("MatMul", lambda a, b: raw.MatMul(a=a, b=b), cases([(1, 4), (4, 1)], [(0, 3), (3, 2)], [(33, 70), (70, 19)]), label="large", types=FLOATS)
for ax in (False, True):
    for ay in (False, True):
        op("BatchMatMulV2", lambda x, y, ax=ax, ay=ay: raw.BatchMatMulV2(x=x, y=y, adj_x=ax, adj_y=ay), values="tiny",
           label=f"{ax:d}{ay:d}", cases=cases(*[[(2, k, m) if ax else (2, m, k), (b, 1, n, k) if ay else (b, 1, k, n)]
                                               for b, m, k, n in ((1, 1, 1, 1), (3, 3, 0, 2), (3, 4, 5, 3))]))
REDUCE = cases([(), i32([])], [(0, 3), i32([1])], [(2, 3, 4), i32([0, -1])])
EACH_AXIS = {f"axis_{axis}".replace(" ", ""): [(3, 4, 5), i32(axis)] for axis in (0, 1, 2, -1, [], [0], [1, 2], [0, 1, 2], [2, 0])}
for name in ("Sum", "Mean", "Max", "Min", "Prod"):
    reduce = lambda x, axis, f=getattr(raw, name), **keep: f(input=x, axis=axis, **keep)
    op(name, reduce, REDUCE)
    op(name, reduce, EACH_AXIS, label="axes")
    op(name, lambda x, axis, f=reduce: f(x, axis, keep_dims=True), REDUCE, label="kept")
    op(name, lambda x, axis, f=reduce: f(x, axis), label="over_nothing", gradient=False,
       cases={"zero": [(0, 3), i32(0)], "zero_inside": [(2, 0, 3), i64([1])]}, types=FLOATS)
    op(name, reduce, {"large": [(50, 130), i32(0)], "rows": [(50, 130), i32(1)], "all": [(50, 130), i32([0, 1])],
                      "vector": [(1000,), i64(0)]}, label="large", gradient=name != "Prod", types=FLOATS)
op("Prod", lambda x, axis: raw.Prod(input=x, axis=axis), EACH_AXIS, label="of_zeros", values="coarse", types=FLOATS)
for name in ("All", "Any"):
    for keep in (False, True):
        op(name, lambda x, axis, f=getattr(raw, name), keep=keep: f(input=x, axis=axis, keep_dims=keep), {**REDUCE, **EACH_AXIS},
           types=(tf.bool,), label="kept" * keep)
SCAN = cases([(1,), i32(0)], [(0, 3), i32(1)], [(2, 3, 4), i64(-2)])
for name in ("Cumsum", "Cumprod"):
    for exclusive in (False, True):
        for reverse in (False, True):
            op(name, lambda x, axis, f=getattr(raw, name), e=exclusive, r=reverse: f(x=x, axis=axis, exclusive=e, reverse=r), SCAN,
               label=f"{exclusive:d}{reverse:d}", every_type=not exclusive and not reverse)
for name in ("ArgMax", "ArgMin"):
    for out in (tf.int32, tf.int64):
        op(name, lambda x, axis, f=getattr(raw, name), out=out: f(input=x, dimension=axis, output_type=out),
           cases([(1,), i32(0)], [(0, 3), i32(1)], [(2, 3, 4), i32(-2)]), values="coarse", label=out.name)

# --- neural networks
BIAS = cases([(1, 1), (1,)], [(0, 3), (3,)], [(2, 4, 3), (3,)])
op("BiasAdd", tf.nn.bias_add, BIAS)
op("BiasAdd", lambda x, b: tf.nn.bias_add(x, b, data_format="NCHW"), label="nchw", types=FLOATS,
   cases=cases([(1, 1, 1, 1), (1,)], [(0, 3, 2, 2), (3,)], [(2, 3, 4, 5), (3,)]))
op("BiasAddGrad", lambda d: raw.BiasAddGrad(out_backprop=d), cases([(1, 1)], [(0, 3)], [(2, 4, 3)]))
op("BiasAddGrad", lambda d: raw.BiasAddGrad(out_backprop=d, data_format="NCHW"), label="nchw", types=FLOATS,
   cases=cases([(1, 1, 1, 1)], [(0, 3, 2, 2)], [(2, 3, 4, 5)]))
op("Relu", tf.nn.relu, UNARY, values="coarse")
op("ReluGrad", lambda d, x: raw.ReluGrad(gradients=d, features=x), SAME, values="coarse")
# Squared, since the gradient of a softmax by ones is nothing but rounding; so are second ones of losses.
op("Softmax", lambda x: tf.square(tf.nn.softmax(x)), ROWS)
op("LogSoftmax", tf.nn.log_softmax, ROWS)
op("Softmax", lambda x: tf.square(tf.nn.softmax(x)), cases([(1,)], [(2, 0)], [(2, 3, 4)]), label="ranks")
CLASSES = cases([(1, 1), (1, 1)], [(0, 3), (0, 3)], [(4, 5), (4, 5)])
op("SoftmaxCrossEntropyWithLogits", lambda x, y: tf.nn.softmax_cross_entropy_with_logits_v2(logits=x, labels=y), CLASSES,
   values="unit")
op("SoftmaxCrossEntropyWithLogits",
   lambda x, y: list(raw.SoftmaxCrossEntropyWithLogits(features=x, labels=y)), label="broadcast", values="unit",
   cases={"broadcast": [(4, 5), (1, 5)]}, gradient=False)
op("SoftmaxCrossEntropyWithLogits", lambda x, y: tf.square(raw.SoftmaxCrossEntropyWithLogits(features=x, labels=y).backprop),
   CLASSES, values="unit", label="second")
op("SparseSoftmaxCrossEntropyWithLogits",
   lambda x, y: tf.square(raw.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=y).backprop),
   cases([(1, 1), i32([0])], [(0, 3), i32([])], [(4, 5), i32([1, 4, 0, 2])]), label="second")
for index in (i32, i64):
    op("SparseSoftmaxCrossEntropyWithLogits",
       lambda x, y: raw.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=y).loss, label=index([0]).dtype.name,
       cases=cases([(1, 1), index([0])], [(0, 3), index([])], [(4, 5), index([1, 4, 0, 2])]))

# --- shapes
for out in (tf.int32, tf.int64):
    op("Shape", lambda x, out=out: tf.shape(x, out_type=out), UNARY, label=out.name)
    op("Size", lambda x, out=out: raw.Size(input=x, out_type=out), UNARY, label=out.name)
    op("ShapeN", lambda x, y, out=out: list(raw.ShapeN(input=[x, y], out_type=out)), BINARY, label=out.name)
op("Rank", lambda x: raw.Rank(input=x), UNARY)
op("BroadcastGradientArgs", lambda x, y: list(raw.BroadcastGradientArgs(s0=x, s1=y)), types=(tf.int32,),
   cases=cases([i32([]), i32([])], [i32([2, 0]), i32([1])], [i32([2, 1, 3]), i32([4, 1])]))
op("BroadcastGradientArgs", lambda x, y: list(raw.BroadcastGradientArgs(s0=x, s1=y)), types=(tf.int64,), label="int64",
   cases=cases([i64([]), i64([2])], [i64([2, 0]), i64([2, 0])], [i64([1, 5, 1, 3]), i64([5, 2, 1])]))
RESHAPE = cases([(), i32([1, 1])], [(0, 3), i32([3, -1])], [(2, 3, 4), i64([4, -1])])
op("Reshape", tf.reshape, RESHAPE)
op("Reshape", tf.reshape, {"to_scalar": [(1, 1), i32([])], "flat": [(2, 3), i32([-1])]}, label="ends")
op("ExpandDims", lambda x, axis: raw.ExpandDims(input=x, axis=axis),
   cases([(), i32(0)], [(0, 3), i32(-1)], [(2, 3), i64(1)]))
op("Squeeze", tf.squeeze, cases([()], [(0, 1)], [(1, 3, 1)]))
op("Squeeze", lambda x: tf.squeeze(x, [0, -1]), cases([(1, 1)], [(1, 0, 1)], [(1, 3, 1, 1)]), label="axes")
op("Fill", lambda dims, x: raw.Fill(dims=dims, value=x),
   cases([i32([]), ()], [i32([0, 3]), ()], [i64([2, 3]), ()]))
op("ZerosLike", lambda x: raw.ZerosLike(x=x), UNARY)
op("OnesLike", lambda x: raw.OnesLike(x=x), UNARY)
op("Range", lambda a, b, d: tf.range(a, b, d), types=(tf.int32,),
   cases=cases([i32(0), i32(1), i32(1)], [i32(3), i32(3), i32(1)], [i32(9), i32(-2), i32(-3)]))
op("Range", lambda a, b, d: tf.range(a, b, d), types=(tf.int64,), label="int64",
   cases=cases([i64(0), i64(1), i64(1)], [i64(3), i64(3), i64(1)], [i64(-2), i64(9), i64(4)]))
for dtype in (np.float32, np.float64):
    op("Range", lambda a, b, d: tf.range(a, b, d), types=(tf.as_dtype(dtype),), label=dtype.__name__, gradient=False,
       cases=cases(*[[np.array(x, dtype) for x in row] for row in ((0, .5, 1), (1, 1, .1), (0, 1, .1))]))

# --- moving elements
op("Transpose", tf.transpose, cases([()], [(0, 3)], [(2, 3, 4)]))
op("Transpose", tf.transpose, label="perm",
   cases={"identity": [(2, 3), i32([0, 1])], "last": [(2, 3, 4), i64([0, 2, 1])], "front": [(2, 3, 4), i32([1, 0, 2])],
          "turn": [(2, 3, 4), i32([2, 0, 1])], "large": [(33, 65), i32([1, 0])], "four": [(2, 3, 4, 5), i32([3, 1, 0, 2])]})
op("InvertPermutation", lambda x: raw.InvertPermutation(x=x), types=(tf.int32,),
   cases=cases([i32([0])], [i32([])], [i32([2, 0, 3, 1])]))
op("Tile", tf.tile, cases([(), i32([])], [(0, 3), i32([2, 1])], [(2, 3), i64([2, 3])]))
op("Tile", tf.tile, {"ones": [(2, 3), i32([1, 1])], "none": [(2, 3), i32([0, 2])], "cube": [(2, 3, 4), i32([3, 1, 2])]},
   label="multiples")
op("BroadcastTo", tf.broadcast_to, cases([(), i32([])], [(1, 3), i32([0, 3])], [(3, 1), i64([2, 3, 4])]))
op("Pack", lambda x, y: tf.stack([x, y]), SAME)
op("Pack", lambda x, y: tf.stack([x, y], axis=-2), cases([(1,), (1,)], [(0, 3), (0, 3)], [(2, 3), (2, 3)]), label="axis")
op("Unpack", lambda x: list(raw.Unpack(value=x, num=2, axis=0)), cases([(2,)], [(2, 0)], [(2, 3)]))
op("Unpack", lambda x: list(raw.Unpack(value=x, num=3, axis=-1)), cases([(3,)], [(0, 3)], [(2, 3)]), label="axis")
op("ConcatV2", lambda x, y, axis: tf.concat([x, y], axis), cases([(1,), (1,), i32(0)], [(0, 3), (2, 3), i32(0)],
                                                                [(2, 3), (2, 1), i32(1)]))
op("ConcatV2", lambda x, y: tf.concat([x, y, x], -2), cases([(1, 1), (1, 1)], [(0, 3), (0, 3)], [(2, 3), (1, 3)]),
   label="constant_axis")
op("ConcatOffset", lambda axis, x, y: list(raw.ConcatOffset(concat_dim=axis, shape=[x, y])), types=(tf.int32,),
   cases=cases([i32(0), i32([1]), i32([1])], [i32(0), i32([0, 3]), i32([2, 3])], [i32(1), i32([2, 3]), i32([2, 1])]))
op("Split", lambda axis, x: list(tf.split(x, 2, axis)), cases([i32(0), (2,)], [i32(0), (0, 3)], [i32(-1), (3, 4)]))
op("SplitV", lambda x, sizes: list(raw.SplitV(value=x, size_splits=sizes, axis=0, num_split=2)),
   cases([(2,), i32([1, 1])], [(0, 3), i32([0, 0])], [(5, 2), i64([2, -1])]))
op("Slice", tf.slice, cases([(), i32([]), i32([])], [(0, 3), i32([0, 1]), i32([0, 2])], [(4, 5), i64([1, 2]), i64([-1, 2])]))
op("StridedSlice", lambda x: x[..., tf.newaxis], cases([()], [(0, 3)], [(2, 3)]), label="new_axis")
for label, index in {
        "range": np.s_[1:3], "negative": np.s_[-2:, ::-1], "shrink": np.s_[1], "both": np.s_[0:2, 0:2], "every": np.s_[::2, 1::3],
        "ellipsis": np.s_[..., 0], "middle": np.s_[0, ..., -1:], "last": np.s_[-1], "empty": np.s_[2:1], "newaxis": np.s_[:, None, 1:],
        "beyond": np.s_[1:99, -99:2], "down": np.s_[::-2, 3:0:-1]}.items():
    op("StridedSlice", lambda x, index=index: x[index], label=label,
       cases={"plain": [(4, 5)], "zero": [(4, 0, 5)], "unknown_dim": [(4, 5, 2)], "unknown_rank": [(4, 5)]})
STRIDED = cases([i32([4]), i32([1]), i32([2]), i32([1]), (1,)], [i32([4, 0]), i32([0, 0]), i32([2, 0]), i32([1, 1]), (2, 0)],
                [i32([4, 5]), i32([3, 0]), i32([0, 5]), i32([-2, 2]), (2, 3)])
op("StridedSlice", lambda s, b, e, d, x: tf.strided_slice(tf.reshape(tf.tile(tf.reshape(x, [-1])[:1], [20]), [4, 5]), b, e, d),
   {"fed": STRIDED["broadcast"], "unknown_dim": STRIDED["broadcast"]}, label="fed")
op("StridedSliceGrad", lambda s, b, e, d, x: raw.StridedSliceGrad(shape=s, begin=b, end=e, strides=d, dy=x), STRIDED)
op("Pad", lambda x, p: raw.Pad(input=x, paddings=p), cases([(), i32(np.zeros((0, 2)))], [(0, 3), i32([[1, 0], [0, 0]])],
                                                           [(2, 3), i64([[1, 2], [0, 1]])]))
op("PadV2", lambda x, p, v: raw.PadV2(input=x, paddings=p, constant_values=v),
   cases([(), i32(np.zeros((0, 2))), ()], [(0, 3), i32([[1, 0], [0, 0]]), ()], [(2, 3), i64([[1, 2], [0, 1]]), ()]))
GATHER = cases([(3,), i32(1)], [(2, 3), i32([])], [(4, 3), i64([[3, 0], [1, 1]])])
op("GatherV2", tf.gather, GATHER)
op("GatherV2", lambda x, i: tf.gather(x, i, axis=1), cases([(1, 3), i32(1)], [(0, 3), i32([2])], [(4, 3), i64([2, 0, 2])]),
   label="axis")
op("GatherV2", lambda x, i: tf.gather(x, i, axis=2, batch_dims=1), label="batches",
   cases=cases([(1, 1, 3), i32([[1]])], [(2, 0, 3), i32([[0], [2]])], [(2, 3, 4), i64([[3, 0, 3], [1, 1, 2]])]))
op("Where", lambda x: raw.Where(condition=x), cases([(1,)], [(0, 3)], [(2, 3, 4)]), values="coarse", gradient=False)
op("DynamicStitch", lambda i, j, x, y: tf.dynamic_stitch([i, j], [x, y]),
   cases([i32(0), i32(1), (), ()], [i32([]), i32([]), (0, 2), (0, 2)], [i32([0, 2]), i32([[1, 3]]), (2, 3), (1, 2, 3)]))
op("UnsortedSegmentSum", tf.unsorted_segment_sum,
   cases([(1,), i32([0]), i32(1)], [(0, 3), i32([]), i32(2)], [(4, 3), i32([2, 0, 2, -1]), i32(3)]))
for index in (i32, i64):
    place = tf.as_dtype(index(0).dtype)
    op("Unique", lambda x, place=place: list(raw.Unique(x=x, out_idx=place)), cases([(1,)], [(0,)], [(9,)]), values="coarse",
       gradient=False, label=place.name)
    op("ListDiff", lambda x, y, place=place: list(raw.ListDiff(x=x, y=y, out_idx=place)),
       cases([(1,), (1,)], [(0,), (3,)], [(9,), (4,)]), values="coarse", gradient=False, label=place.name)

# --- conditionals
def switched(pred):
    return lambda x, y: tf.cond(pred(x), lambda: x * y, lambda: x + y)


op("Switch", switched(lambda x: tf.less(tf.size(x), 2)), SAME, types=FLOATS)
op("Merge", switched(lambda x: tf.greater(tf.size(x), 2)), SAME, types=FLOATS)
op("Merge", lambda p, x: list(tf.raw_ops.Merge(inputs=list(tf.raw_ops.Switch(data=x, pred=p)))), label="raw", gradient=False,
   cases=cases([mask(True), ()], [mask(False), (0, 3)], [mask(True), (2, 3)]))


# --- variables, of both kinds
def variable(initial, resource):
    return tf.get_variable("v", initializer=tf.constant(initial), use_resource=resource)


def updated(update, resource):
    def build(initial, x):
        v = variable(initial, resource)
        return Steps(v.initializer, [v.read_value() if resource else v], update(v, x).op)
    return build


HELD = {"scalar": [Held(()), ()], "zero": [Held((0, 3)), (0, 3)], "plain": [Held((2, 3)), (2, 3)],
        "unknown_dim": [Held((2, 3)), (2, 3)], "unknown_rank": [Held((2, 3)), (2, 3)]}
for name, twin, update in (("Assign", "AssignVariableOp", tf.assign), ("AssignAdd", "AssignAddVariableOp", tf.assign_add),
                           ("AssignSub", "AssignSubVariableOp", tf.assign_sub)):
    op(name, updated(update, False), HELD)
    op(twin, updated(update, True), HELD)


def asked(resource):
    def build(initial):
        v = variable(initial, resource)
        return [tf.is_variable_initialized(v)]
    return build


def read_after_start(resource):
    def build(initial, x):
        v = variable(initial, resource)
        y = v * x
        return Steps(v.initializer, [y, *tf.gradients(y, [v, x])])
    return build


def shape_after_start(initial, x):
    v = variable(initial, True)
    return Steps(v.initializer, [tf.raw_ops.VariableShape(input=v.handle, out_type=out) for out in (tf.int32, tf.int64)])


NEW = {"scalar": [Held(())], "zero": [Held((0, 3))], "plain": [Held((2, 3))]}
# Not "zero": there is a row in kernels/README.md.
op("IsVariableInitialized", asked(False), {name: NEW[name] for name in ("scalar", "plain")})
op("VarIsInitializedOp", asked(True), NEW)
op("VariableShape", shape_after_start, HELD, types=FLOATS)
op("VariableV2", read_after_start(False), HELD, types=FLOATS)
op("VarHandleOp", read_after_start(True), HELD, types=FLOATS)
op("ReadVariableOp", read_after_start(True), HELD, types=FLOATS)


def counted(resource):
    def build(initial):
        v = variable(initial, resource)
        count = v.count_up_to(10)
        return Steps(v.initializer, [count], count.op)
    return build


COUNTER = {"scalar": [Held(())]}
op("CountUpTo", counted(False), COUNTER)
op("ResourceCountUpTo", counted(True), COUNTER)


def through_refs(initial, x):
    """RefSwitch on both sides of a condition, RefMerge, and RefIdentity between."""
    v = variable(initial, False)
    sides = raw.RefSwitch(data=v._variable, pred=tf.greater(tf.size(x), 2))
    added = tf.raw_ops.AssignAdd(ref=tf.raw_ops.RefIdentity(input=sides.output_true), value=x)
    merged = raw.RefMerge(inputs=[sides.output_false, added])
    return Steps(v.initializer, [v], merged.output.op)


for name in ("RefSwitch", "RefMerge", "RefIdentity"):
    op(name, through_refs, HELD, types=FLOATS)


# --- training
def trained(optimizer, resource):
    def build(initial, x):
        v = variable(initial, resource)
        train = optimizer.apply_gradients([(x * 1, v)])
        slots = [optimizer.get_slot(v, slot) for slot in optimizer.get_slot_names()]
        init = tf.group(*[item.initializer for item in optimizer.variables() + [v]])
        return Steps(init, [item.read_value() if resource else item for item in [v, *slots]], train)
    return build


for kind in ("", "Resource"):
    for label, name, make in (
            ("", "ApplyGradientDescent", lambda: tf.train.GradientDescentOptimizer(0.3)),
            ("", "ApplyMomentum", lambda: tf.train.MomentumOptimizer(0.3, 0.9)),
            ("nesterov", "ApplyMomentum", lambda: tf.train.MomentumOptimizer(0.3, 0.9, use_nesterov=True)),
            ("", "ApplyAdam", lambda: tf.train.AdamOptimizer(0.3))):
        op(kind + name, lambda initial, x, make=make, kind=kind: trained(make(), kind != "")(initial, x), HELD, label=label)


def trained_rows(resource, nesterov):
    def build(initial, x, rows):
        v = variable(initial, resource)
        momentum = tf.train.MomentumOptimizer(0.3, 0.9, use_nesterov=nesterov)
        train = momentum.apply_gradients([(tf.IndexedSlices(x * 1, rows), v)])
        slot = momentum.get_slot(v, "momentum")
        return Steps(tf.group(v.initializer, slot.initializer),
                     [item.read_value() if resource else item for item in (v, slot)], train)
    return build


for kind in ("", "Resource"):
    for index in (i32, i64):
        for nesterov in (False, True):
            op(kind + "SparseApplyMomentum", trained_rows(kind != "", nesterov),
               {name: [Held(held), x, index(rows)] for name, held, x, rows in (
                   ("scalar", (1,), (1,), [0]), ("zero", (2, 3), (0, 3), []), ("plain", (5, 2, 2), (4, 2, 2), [3, 1, 3, 0]),
                   ("unknown_dim", (5, 2), (4, 2), [3, 1, 3, 0]), ("unknown_rank", (5, 2), (4, 2), [3, 1, 3, 0]))},
               label=index(0).dtype.name + "_nesterov" * nesterov)


# --- random numbers: bit for bit
DRAW = cases([i32([]), TYPE], [i32([0, 3]), TYPE], [i64([7, 11]), TYPE])
op("RandomUniform", lambda shape, dtype: raw.RandomUniform(shape=shape, dtype=dtype, seed=3, seed2=7), DRAW, gradient=False)
op("RandomStandardNormal", lambda shape, dtype: raw.RandomStandardNormal(shape=shape, dtype=dtype, seed=3, seed2=7), DRAW,
   gradient=False)
op("TruncatedNormal", lambda shape, dtype: raw.TruncatedNormal(shape=shape, dtype=dtype, seed=3, seed2=7), DRAW,
   gradient=False)
op("RandomUniformInt", lambda shape, dtype: raw.RandomUniformInt(
    shape=shape, minval=tf.constant(-5, dtype), maxval=tf.constant(1000, dtype), seed=3, seed2=7), DRAW)
op("RandomShuffle", lambda x: raw.RandomShuffle(value=x, seed=3, seed2=7), cases([(1,)], [(0, 3)], [(9, 2)]), gradient=False)

# --- strings
for label, table in (("", SAME), ("left", LEFT_SCALAR)):
    op("StringJoin", lambda x, y: raw.StringJoin(inputs=[x, y], separator="/"), table, types=(tf.string,), gradient=False,
       label=label)
for label, pattern in (("", "^.*[e-n]$"), ("set", r"[^\de]*e?[a-z]+?"), ("anchors", "^$"), ("characters", "\\w*.t."),
                       ("groups", "(a|[[:alpha:]]{2,})+.*")):
    op("StaticRegexFullMatch", lambda x, p=pattern: raw.StaticRegexFullMatch(input=x, pattern=p), UNARY, types=(tf.string,),
       gradient=False, label=label)

# Registered, but no line: why.
NO_LINE = {name: why for why, names in {
    "loops do not run yet": "Enter RefEnter Exit RefExit NextIteration RefNextIteration LoopCond",
    "test_parsing.py": both_sides.PARSING_OPS,
    "test_readers.py": both_sides.READER_OPS, "test_saver.py": "SaveV2 RestoreV2 MergeV2Checkpoints ShardedFilename",
}.items() for name in names.split()} | dict.fromkeys(queue_cases.OPS, "test_queues.py")
