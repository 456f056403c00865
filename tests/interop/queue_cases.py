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


def names(tensors):
    return [tensor.name for tensor in tensors]


def filling():
    """What the threads of queue runners would run: the enqueues of each runner, and their closings."""
    runners = tf.get_collection("queue_runners")
    return [names(runner.enqueue_ops) for runner in runners], [runner.close_op.name for runner in runners]


def init():
    return [tf.local_variables_initializer().name]


def file_names():
    taken = [tf.train.string_input_producer(tf.constant(["a", "b", "c"]), num_epochs=2, seed=3).dequeue().name]
    (put,), close = filling()
    return [init(), put, *[taken] * 3, put, put, close, *[taken] * 4]


def numbers():
    taken = [tf.train.range_input_producer(5, seed=3).dequeue().name]
    (put,), _ = filling()
    return [put, *[taken] * 5, put, *[taken] * 6]


def slices():
    taken = names(tf.train.slice_input_producer([tf.constant([1, 2, 3]), tf.constant(["x", "y", "z"])], num_epochs=1, seed=4))
    (put,), close = filling()
    return [init(), put, taken, taken, put, close, taken, taken]


def smaller_final_batch():
    x = tf.train.range_input_producer(5, shuffle=False, num_epochs=2).dequeue()
    taken = names(tf.train.batch([x, tf.cast(x, tf.int64) * 2], 3, allow_smaller_final_batch=True))
    (rows, put), (close_rows, close) = filling()
    return [init(), rows, *[put] * 3, taken, rows, *[put] * 5, taken, put, rows, [close_rows], put, put, [close], *[taken] * 3]


def shuffled_batches():
    x = tf.train.range_input_producer(20, shuffle=False).dequeue()
    taken = [tf.train.shuffle_batch([x], 3, capacity=30, min_after_dequeue=4, seed=9).name]
    (rows, put), _ = filling()
    return [rows, *[put] * 15, *[taken] * 4]


def chosen_elements():
    x = tf.train.range_input_producer(20, shuffle=False).dequeue()
    taken = [tf.train.maybe_batch([x], tf.equal(x % 2, 0), 3).name]
    (rows, put), _ = filling()
    return [rows, *[put] * 12, taken, taken]


def padded_batches():
    x = tf.train.range_input_producer(6, shuffle=False).dequeue()
    taken = [tf.train.batch([tf.range(x)], 3, dynamic_pad=True).name]
    (rows, put), _ = filling()
    return [rows, *[put] * 6, taken, taken]


def joined_batches():
    queue = tf.train.range_input_producer(20, shuffle=False)
    taken = [tf.train.batch_join([[queue.dequeue()], [queue.dequeue() * 10]], 3).name]
    (rows, (one, other)), _ = filling()
    return [rows, *[[one]] * 3, *[[other]] * 3, taken, taken]


PIPELINES = [file_names, numbers, slices, smaller_final_batch, shuffled_batches, chosen_elements, padded_batches, joined_batches]
