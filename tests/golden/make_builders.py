#!/usr/bin/env python3
"""Node listings of what variables, variable scopes, gradients and optimizers add to a graph, for both kinds of variables.

usage: make_builders.py [OUT]     writes OUT/builders/nodes.txt
"""
import os
from goldlib import out_dir, tf
from listgraph import line

d = out_dir("builders")


def global_step():
    tf.train.get_or_create_global_step()


def get_variable():
    tf.get_variable("z", [3], initializer=tf.zeros_initializer())
    tf.get_variable("zz", [3000], initializer=tf.zeros_initializer())
    tf.get_variable("o", [3], initializer=tf.ones_initializer())
    tf.get_variable("c", [3], initializer=tf.constant_initializer(0.5))
    tf.get_variable("g", [3, 4])
    tf.get_variable("gi", [3], dtype=tf.int32)
    tf.get_variable("tn", [3, 4], initializer=tf.truncated_normal_initializer(stddev=0.1))
    tf.get_variable("rn", [3, 4], initializer=tf.random_normal_initializer(stddev=0.1))
    tf.get_variable("ru", [3, 4], initializer=tf.random_uniform_initializer(-1.0, 1.0))
    with tf.variable_scope("s"):
        v = tf.get_variable("v", [2])
        tf.nn.bias_add(tf.matmul(tf.ones([1, 2]), tf.get_variable("k", [2, 2])), v)
        tf.Variable(1.0)
    with tf.variable_scope("s", reuse=True):
        tf.get_variable("v", [2]) + 1.0


def two_adams():
    w = tf.Variable([1.0, 2.0], name="w")
    b = tf.Variable(1.0, name="b")
    with tf.name_scope("t"):
        tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(w * w) + b * b)
    tf.train.AdamOptimizer(0.1, name="Second").minimize(tf.reduce_sum(w * w), var_list=[w])
    tf.train.MomentumOptimizer(0.1, 0.9).minimize(
        tf.reduce_sum(w * w), var_list=[w], name="go", global_step=tf.train.get_or_create_global_step())


def gradients():
    x = tf.placeholder(tf.float32, [None, 3], "x")
    y = tf.placeholder(tf.float32, [2, 3], "y")
    z = x * y
    s, _ = tf.split(z, [1, 2], 1)
    q = s * s + s
    tf.gradients([q, z], [x, y], grad_ys=[None, tf.ones([2, 3])])
    tf.gradients(tf.reduce_sum(q, name="qq"), [x, y], stop_gradients=[x], gate_gradients=True)
    tf.gradients(q, [y], unconnected_gradients="zero")


with open(os.path.join(d, "nodes.txt"), "w") as fh:
    for build in (global_step, get_variable, two_adams, gradients):
        for resource in (False, True):
            tf.reset_default_graph()
            (tf.enable_resource_variables if resource else tf.disable_resource_variables)()
            build()
            fh.write("== %s (%s)\n" % (build.__name__, "resource" if resource else "ref"))
            fh.writelines(line(n) + "\n" for n in tf.get_default_graph().as_graph_def().node)
