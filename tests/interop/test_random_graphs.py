"""Graphs drawn at random from ops that keep numbers tame, so that memory is shared, aliased and reused in ways that no
single op shows: views of views, values that die in the middle, fetches of what another op could have overwritten.

The seed is in the test's name. Shapes are known in every other graph; the others are fed through unknown dimensions.
"""
import numpy as np
import pytest

from oracle import Job, difference, run_jobs, session, tf

SEEDS = range(60)
OPS = 40


class Draw:
    """Adds one op after another to a pool of matrices."""

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)
        self.known = seed % 2 == 0
        self.feeds, self.pool, self.shapes = {}, [], {}

    def keep(self, tensor, shape):
        self.pool.append(tensor)
        self.shapes[tensor.name] = shape

    def leaf(self):
        shape = tuple(self.random.randint(1, 5, 2))
        value = self.random.uniform(-1, 1, shape).astype(np.float32)
        if self.random.rand() < 0.3:
            return self.keep(tf.constant(value), shape)
        tensor = tf.placeholder(tf.float32, shape if self.known else [None, None])
        self.feeds[tensor] = value
        self.keep(tensor, shape)

    def pick(self):
        """Late ones more often: deep graphs."""
        tensor = self.pool[-1 - int(len(self.pool) * self.random.rand() ** 2)]
        return tensor, self.shapes[tensor.name]

    def fitting(self, shape):
        """One more, brought to a shape that broadcasts with the given one."""
        x, mine = self.pick()
        rows, columns = [1 if self.random.rand() < 0.3 else n for n in shape]
        while mine[0] < rows or mine[1] < columns:
            x, mine = tf.tile(x, [2, 2]), (2 * mine[0], 2 * mine[1])
        return x[:rows, :columns]

    def unary(self, x, shape):
        f = [tf.tanh, tf.sigmoid, tf.nn.relu, tf.negative, tf.abs, tf.identity, tf.nn.softmax,
             lambda x: tf.square(tf.tanh(x))][self.random.randint(8)]
        self.keep(f(x), shape)

    def binary(self, x, shape):
        f = [tf.add, tf.subtract, tf.maximum, tf.minimum, lambda x, y: x * tf.tanh(y),
             lambda x, y: x / (1 + tf.square(y))][self.random.randint(6)]
        y = self.fitting(shape)
        self.keep(f(x, y) if self.random.rand() < 0.5 else f(y, x), shape)

    def move(self, x, shape):
        n, m = shape
        kind = self.random.randint(6)
        if kind == 0:
            self.keep(tf.transpose(x), (m, n))
        elif kind == 1:
            self.keep(tf.reshape(x, [1, n * m]) if n * m <= 12 else tf.reshape(x, [m, n]), (1, n * m) if n * m <= 12 else (m, n))
        elif kind == 2:
            begin = self.random.randint(n)
            self.keep(x[begin:, ::-1], (n - begin, m))
        elif kind == 3:
            self.keep(tf.squeeze(tf.expand_dims(x, 0), [0]), shape)
        elif kind == 4 and n <= 4:
            self.keep(tf.concat([x, x[:1]], 0), (n + 1, m))
        else:
            self.keep(tf.gather(x, [n - 1, 0]), (2, m))

    def reduce(self, x, shape):
        axis = self.random.randint(2)
        f = [tf.reduce_mean, tf.reduce_max, tf.reduce_min][self.random.randint(3)]
        self.keep(f(x, axis, keepdims=True), (1, shape[1]) if axis == 0 else (shape[0], 1))

    def choose(self, x, shape):
        y = self.fitting(shape) + tf.zeros_like(x)
        self.keep(tf.where(tf.greater(x, y), x, y * 0.5), shape)

    def multiply(self, x, shape):
        self.keep(tf.tanh(tf.matmul(x, x, transpose_b=True)), (shape[0], shape[0]))

    def build(self):
        """What to fetch: some tensors from the middle, the last, and gradients."""
        for _ in range(4):
            self.leaf()
        steps = [self.unary] * 3 + [self.binary] * 5 + [self.move] * 4 + [self.reduce, self.choose, self.multiply]
        for _ in range(OPS):
            steps[self.random.randint(len(steps))](*self.pick())
        loss = tf.add_n([tf.reduce_mean(x) for x in self.pool[-5:]])
        slopes = [slope for slope in tf.gradients(loss, list(self.feeds)) if slope is not None]
        middle = [self.pool[i] for i in self.random.randint(4, len(self.pool), 4)]
        return [*middle, self.pool[-1], loss, *slopes]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """{seed: (job, TensorFlow's values)}."""
    folder, out = tmp_path_factory.mktemp("random"), {}
    for seed in SEEDS:
        with tf.Graph().as_default() as graph:
            draw = Draw(seed)
            names = [tensor.name for tensor in draw.build()]
            with session(graph) as tensorflow:
                values = tensorflow.run(names, draw.feeds)
            model = folder / f"{seed}.pb"
            model.write_bytes(graph.as_graph_def().SerializeToString())
            feeds = {tensor.name: value for tensor, value in draw.feeds.items()}
            out[seed] = Job(model, names, folder / str(seed), feeds=feeds), dict(zip(names, values))
    run_jobs([job for job, _ in out.values()], folder)
    return out


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_graph_gives_tensorflows_values(seed, ran):
    job, expected = ran[seed]
    assert job.error is None, job.error
    differ = [f"{name} is {why}" for name, theirs in expected.items()
              if (why := difference(job.values[name], theirs, near_zero=1e-6, at_least=1.0))]
    assert not differ, "\n".join(differ)
