"""The lines of op_table.py that are summaries: serialized messages, equal byte for byte but for what zlib made."""
import io

import numpy as np
from PIL import Image

from op_line import FLOATS, UNARY, cases, op
from oracle import tf

raw = tf.raw_ops

op("ScalarSummary", lambda x: tf.summary.scalar("loss", x), cases([()], [()], [()]), gradient=False)
op("HistogramSummary", lambda x: tf.summary.histogram("w", x), UNARY, gradient=False)
op("MergeSummary", lambda x: tf.summary.merge([tf.summary.histogram("w", x), tf.summary.scalar("n", tf.size(x))]), UNARY,
   types=FLOATS, gradient=False)
op("TensorSummaryV2", lambda x: tf.summary.tensor_summary("t", x, summary_description="d", display_name="n"), UNARY,
   gradient=False)
op("TensorSummaryV2", lambda x: tf.summary.text("t", x), UNARY, types=(tf.string,), gradient=False, label="text")
op("TensorSummary", lambda x: raw.TensorSummary(tensor=x, description="d", labels=["l"]), UNARY, gradient=False)
op("AudioSummaryV2", lambda x: tf.summary.audio("a", x, 44100.7), cases([(1, 1)], [(2, 0)], [(4, 9)]), types=(tf.float32,),
   gradient=False)
op("AudioSummaryV2", lambda x: tf.summary.audio("a", x, 8000, max_outputs=1), cases([(1, 1, 1)], [(0, 3, 2)], [(2, 9, 3)]),
   types=(tf.float32,), gradient=False, label="channels")


def decoded(summary):
    """The serialized summary with pixels in place of PNG files, whose bytes depend on who deflated them."""
    out = tf.Summary.FromString(summary if isinstance(summary, bytes) else summary.item())
    for value in out.value:
        picture = Image.open(io.BytesIO(value.image.encoded_image_string))
        value.image.encoded_image_string = picture.mode.encode() + picture.tobytes()
    return np.array(out.SerializeToString())


for label, shape in (("", (4, 7, 9, 1)), ("rgb", (2, 17, 31, 3)), ("rgba", (1, 20, 6, 4))):
    for values in ("any", "positive", "tiny"):
        op("ImageSummary", lambda x, most=shape[0]: tf.summary.image("i", x, max_outputs=most),
           cases([(1, 1, 1, shape[3])], [(0, 2, 3, shape[3])], [shape]), values=values, gradient=False, every_type=True,
           label="_".join(word for word in (label, values) if word and word != "any"), seen=decoded)
