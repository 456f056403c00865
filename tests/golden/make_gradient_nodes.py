#!/usr/bin/env python3
"""The nodes that tf.gradients makes for one op each, by names inside of the op's gradient scope.

usage: make_gradient_nodes.py [OUT]     writes OUT/gradient_nodes/nodes.txt
A section: "== TITLE", then a line "name | op | inputs" a node in order of making; dy is the incoming gradient. Nodes that
nothing uses are left out (TensorFlow makes some to compute constants with).
"""
import os
import re

from goldlib import out_dir, tf
from tensorflow.python.framework import op_def_registry

N = None
BINARY = [("multiply", [[3, 4], [3, 4]]), ("multiply", [[3, 4], [4]]), ("multiply", [[N, 4], [4]]),
          ("multiply", [[N, 4], [N, 4]]), ("multiply", [N, N]), ("add", [[1, 4], [3, 1]]), ("subtract", [[], [3, 4]]),
          ("realdiv", [[N], []]), ("squared_difference", [[3, 4], [4]]), ("maximum", [[N, 4], [4]]),
          ("minimum", [[3, 4], [3, 4]]), ("floormod", [[3, 4], [4]])]
UNARY = [(f, [[N, 4]]) for f in ("square", "log", "sqrt", "abs", "exp")]
REDUCE = [("reduce_sum", [[3, 4]], {}), ("reduce_sum", [[N, 4]], {}), ("reduce_sum", [[N, 4]], {"axis": 0}),
          ("reduce_mean", [[3, 4]], {}), ("reduce_mean", [[N, 4]], {}), ("reduce_mean", [N], {}),
          ("reduce_mean", [[3, 4]], {"axis": 0}), ("reduce_mean", [[N, 4]], {"axis": 0}), ("reduce_max", [[3, 4]], {}),
          ("reduce_max", [[N, 4]], {"axis": 0}), ("reduce_max", [[N, 4]], {"axis": 0, "keepdims": True})]
# Ops by their raw names: name, shapes, dtypes that are not float, attributes.
RAW = ([(f, [[3, 4], [3, 4]], {}, {}) for f in ("SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "TanhGrad", "SigmoidGrad")]
       + [("BiasAddGrad", [shape], {}, {"data_format": layout}) for layout in ("NHWC", "NCHW") for shape in ([3, 4, 5], N)]
       + [("SelectV2", shapes, {0: tf.bool}, {}) for shapes in ([[3, 1], [3, 4], [4]], [[N, 1], [N, 4], [4]], [N, N, N])]
       + [("UnsortedSegmentSum", shapes, {1: tf.int32}, {"num_segments": 3}) for shapes in ([[5, 3], [5]], [N, N])]
       + [("Prod", [shape], {}, {"axis": axis, "keep_dims": keep}) for shape in ([2, 3, 4], [N, 3, 4], N)
          for axis, keep in ((0, False), ([0, 2], True))]
       + [("Cumprod", [[3, 4]], {}, {"axis": 1, "exclusive": True, "reverse": False}), ("DivNoNan", [[3, 4], [4]], {}, {})]
       + [("BatchMatMulV2", shapes, {}, {"adj_x": True, "adj_y": False})
          for shapes in ([[2, 4, 3], [2, 4, 5]], [[2, 1, 4, 3], [4, 5]], [N, N])]
       + [("GatherV2", [[N, N, 4], [N, N]], {1: index}, {"axis": 1, "batch_dims": 1}) for index in (tf.int32, tf.int64)]
       + [("SoftmaxCrossEntropyWithLogits", [[3, 4], [3, 4]], {}, {}),
          ("SparseSoftmaxCrossEntropyWithLogits", [[N, 4], [N]], {1: tf.int32}, {})])


def title(name, shapes, options):
    dims = lambda s: "?" if s is None else "[%s]" % ",".join("?" if d is None else str(d) for d in s)
    return " ".join([name] + [dims(s) for s in shapes] + ["%s=%s" % o for o in options.items()])


def raw(name, xs, options):
    op = getattr(tf.raw_ops, name)
    names = [arg.name for arg in op_def_registry.get(name).input_arg]
    names = [{"reduction_indices": "axis"}.get(arg, arg) for arg in names]
    made = op(**dict(zip(names, xs)), **options, name="op")
    return made[-1] if isinstance(made, tuple) else made  # of the losses, the gradient


def nodes(name, shapes, options, dtypes=None):
    with tf.Graph().as_default() as graph:
        xs = [tf.placeholder((dtypes or {}).get(i, tf.float32), s, name="xyz"[i]) for i, s in enumerate(shapes)]
        y = getattr(tf, name)(*xs, **options) if dtypes is None else raw(name, xs, options)
        tf.gradients(y, [x for x in xs if x.dtype.is_floating], grad_ys=tf.placeholder(y.dtype, y.shape, name="dy"))
    lines = []
    for n in graph.as_graph_def().node:
        unused = dtypes is None and "axis" in options and re.search(r"/(Maximum|floordiv)\b", n.name)
        if not re.match(r"gradients/\w+_grad/", n.name) or unused:
            continue
        inputs = " ".join(re.sub(r":\d+$", "", i) for i in n.input)
        line = "%s | %s | %s" % (n.name, n.op, inputs)
        lines.append(re.sub(r"gradients/\w+_grad/", "", line.replace("gradients/grad_ys_0", "dy")).rstrip())
    return lines


if __name__ == "__main__":
    with open(os.path.join(out_dir("gradient_nodes"), "nodes.txt"), "w") as out:
        for name, shapes, options in [(*c, {}) for c in BINARY + UNARY] + REDUCE:
            out.write("\n".join(["== " + title(name, shapes, options)] + nodes(name, shapes, options)) + "\n")
        for name, shapes, dtypes, options in RAW:
            text = title(name, shapes, options).replace(", ", ",") + " int64" * (tf.int64 in dtypes.values())
            out.write("\n".join(["== " + text] + nodes(name, shapes, options, dtypes)) + "\n")
