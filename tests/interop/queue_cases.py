"""Queues built in TensorFlow, of today's ops and of old graphs', each with all that can be done to it."""
from oracle import tf
from tensorflow.python.ops import gen_data_flow_ops as raw

KINDS = ("FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue", "PriorityQueue")
OPS = [f"{kind}{form}" for form in ("", "V2") for kind in KINDS] + [
    f"Queue{what}{form}" for form in ("", "V2")
    for what in ("Enqueue", "EnqueueMany", "Dequeue", "DequeueMany", "DequeueUpTo", "Size", "Close", "IsClosed")]

FIVE = [1, 2, 3, 4, 5]


def made(kind):
    """The queue of run_steps.cc, one element for it, and a batch."""
    if kind == "FIFOQueue":
        return tf.FIFOQueue(4, [tf.int32], shapes=[[]]), [7], [FIVE]
    if kind == "RandomShuffleQueue":
        return tf.RandomShuffleQueue(9, 2, [tf.int32], shapes=[[]], seed=11, shared_name="shared"), [7], [FIVE]
    if kind == "PaddingFIFOQueue":
        return tf.PaddingFIFOQueue(-1, [tf.int32], shapes=[[None]]), [FIVE], [[[1, 2], [3, 4]]]
    priority = tf.PriorityQueue(9, [tf.int32], shapes=[[]])
    return priority, [tf.constant(3, tf.int64, name="p"), 7], [tf.constant([5, 1, 4, 1, 3], tf.int64, name="ps"), FIVE]


def used(kind):
    """{what: the names that do it}, in the order of run_steps.cc."""
    queue, one, many = made(kind)
    as_names = lambda tensors: [t.name for t in (tensors if isinstance(tensors, list) else [tensors])]  # noqa: E731
    return {"put": [queue.enqueue(one).name], "put many": [queue.enqueue_many(many).name], "take": as_names(queue.dequeue()),
            "take many": as_names(queue.dequeue_many(2)), "take up to": as_names(queue.dequeue_up_to(2)),
            "size": [queue.size().name], "is closed": [queue.is_closed().name], "close": [queue.close().name],
            "cancel": [queue.close(cancel_pending_enqueues=True).name]}


def used_old():
    """The same of a FIFO queue behind a string handle, seen through an identity."""
    handle = raw.fifo_queue([tf.int32], shapes=[[]], capacity=4)
    one, types = tf.constant(7), [tf.int32]
    return {"put": [raw.queue_enqueue(handle, [one]).name], "put many": [raw.queue_enqueue_many(handle, [tf.constant(FIVE)]).name],
            "take": [t.name for t in raw.queue_dequeue(handle, types)],
            "take many": [t.name for t in raw.queue_dequeue_many(handle, 2, types)],
            "take up to": [t.name for t in raw.queue_dequeue_up_to(handle, 2, types)], "size": [raw.queue_size(handle).name],
            "is closed": [raw.queue_is_closed(handle).name] if hasattr(raw, "queue_is_closed") else [],
            "close": [raw.queue_close(handle).name], "cancel": [raw.queue_close(handle, cancel_pending_enqueues=True).name]}
