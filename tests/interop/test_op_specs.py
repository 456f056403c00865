"""Every op that Runnel registers against TensorFlow's own registry: arguments, attributes, defaults, allowed types, flags."""
import json
import subprocess

import pytest

from oracle import RUNNEL, tf
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.framework import op_def_registry

# Attributes that came after 1.15; graphs of ours must import in TensorFlow 1.15, too.
NEWER = {
    "MatMul": {"grad_a", "grad_b"},
    "BatchMatMulV2": {"grad_x", "grad_y"},
    "VarHandleOp": {"debug_name", "allowed_devices"},
    "AssignVariableOp": {"validate_shape"},
    "Equal": {"incompatible_shape_error"},
    "NotEqual": {"incompatible_shape_error"},
}
SPECS = json.loads(subprocess.run([RUNNEL, "ops", "--json"], capture_output=True, text=True, check=True).stdout)


def type_name(number):
    name = tf.as_dtype(number).name
    return {"float32": "float", "float64": "double", "float16": "half"}.get(name, name)


def arg_text(arg):
    text = arg.type_list_attr or arg.type_attr or type_name(arg.type)
    if arg.number_attr:
        text = f"{arg.number_attr} * {text}"
    return f"{arg.name}: " + (f"Ref({text})" if arg.is_ref else text)


def shape_text(shape):
    if shape.unknown_rank:
        return "<unknown>"
    return "[" + ",".join("?" if dim.size < 0 else str(dim.size) for dim in shape.dim) + "]"


def value_text(value):
    kind = value.WhichOneof("value")
    if kind == "list":
        lists = [[item_text(field.name, item) for item in items] for field, items in value.list.ListFields()]
        return "[" + ", ".join(lists[0] if lists else []) + "]"
    return item_text(kind, getattr(value, kind))


def item_text(kind, value):
    if kind == "s":
        return '"' + value.decode() + '"'
    if kind == "b":
        return "true" if value else "false"
    if kind == "type":
        return type_name(value)
    if kind == "shape":
        return shape_text(value)
    if kind == "tensor":
        numbers = ", ".join(str(number) for number in tf.make_ndarray(value).ravel())
        return f"{type_name(value.dtype)}{shape_text(value.tensor_shape)} [{numbers}]"
    return f"{value:g}" if kind == "f" else str(value)


def attr_text(attr):
    """As `runnel ops` writes it, the allowed values sorted: in which order they are listed means nothing."""
    text = f"{attr.name}: {attr.type}"
    allowed = [type_name(item) for item in attr.allowed_values.list.type] or [s.decode() for s in attr.allowed_values.list.s]
    if allowed:
        text += " in {" + ", ".join(sorted(allowed)) + "}"
    if attr.has_minimum:
        text += f" >= {attr.minimum}"
    if attr.HasField("default_value"):
        text += " = " + value_text(attr.default_value)
    return text


def sorted_allowed(text):
    if " in {" not in text:
        return text
    front, rest = text.split(" in {")
    inside, back = rest.split("}")
    return front + " in {" + ", ".join(sorted(inside.split(", "))) + "}" + back


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec["name"])
def test_a_spec_is_tensorflows(spec):
    theirs = op_def_registry.get(spec["name"])
    assert theirs is not None, "TensorFlow has no such op"
    assert spec["inputs"] == [arg_text(arg) for arg in theirs.input_arg]
    assert spec["outputs"] == [arg_text(arg) for arg in theirs.output_arg]
    newer = NEWER.get(spec["name"], set())
    assert newer <= {attr.name for attr in theirs.attr}
    assert [sorted_allowed(text) for text in spec["attrs"]] == [attr_text(attr) for attr in theirs.attr if attr.name not in newer]
    for flag in ("is_stateful", "is_commutative", "is_aggregate", "allows_uninitialized_input"):
        assert spec[flag] == getattr(theirs, flag), flag
