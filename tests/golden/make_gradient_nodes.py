#!/usr/bin/env python3
"""The nodes that tf.gradients makes for one op each, by names inside of the op's gradient scope.

usage: make_gradient_nodes.py [OUT]     writes OUT/gradient_nodes/nodes.txt
A section: "== TITLE", then a line "name | op | inputs" a node in order of making; dy is the incoming gradient. Nodes that
nothing uses are left out (TensorFlow makes some to compute constants with).
"""
import os
import re

from goldlib import out_dir, tf

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


def title(name, shapes, options):
    dims = lambda s: "?" if s is None else "[%s]" % ",".join("?" if d is None else str(d) for d in s)
    return " ".join([name] + [dims(s) for s in shapes] + ["%s=%s" % o for o in options.items()])


def nodes(name, shapes, options):
    with tf.Graph().as_default() as graph:
        xs = [tf.placeholder(tf.float32, s, name=n) for n, s in zip("xy", shapes)]
        y = getattr(tf, name)(*xs, **options)
        tf.gradients(y, xs, grad_ys=tf.placeholder(y.dtype, y.shape, name="dy"))
    lines = []
    for n in graph.as_graph_def().node:
        if not re.match(r"gradients/\w+_grad/", n.name) or re.search(r"/(Maximum|floordiv)\b", n.name) and "axis" in options:
            continue
        inputs = " ".join(re.sub(r":\d+$", "", i) for i in n.input)
        line = "%s | %s | %s" % (n.name, n.op, inputs)
        lines.append(re.sub(r"gradients/\w+_grad/", "", line.replace("gradients/grad_ys_0", "dy")).rstrip())
    return lines


if __name__ == "__main__":
    with open(os.path.join(out_dir("gradient_nodes"), "nodes.txt"), "w") as out:
        for name, shapes, options in [(*c, {}) for c in BINARY + UNARY] + REDUCE:
            out.write("\n".join(["== " + title(name, shapes, options)] + nodes(name, shapes, options)) + "\n")
