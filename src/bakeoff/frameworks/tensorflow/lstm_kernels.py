"""TensorFlow's own kernels of an LSTM: a whole step, and a whole sequence on a processor and on CUDA.

Weights are canonical: columns in the order i, f, g, o. All have float32 and float16; none is for XLA.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Callable

    State = tuple[Any, Any]

_UNCLIPPED = -1.0
"""TensorFlow's word for cells without bounds."""


def block(weight: Any, recurrent: Any, bias: Any) -> Callable[[Any, State], State]:
    """Return one LSTMBlockCell: (x, (h, c)) to the next (h, c), with what its weights are brought into made once."""
    joined = _reordered(tf.concat([weight, recurrent], 0), 1)
    order = _reordered(bias, 0)
    return lambda x, state: _block_cell(x, *state, joined, order)


@tf.custom_gradient
def _block_cell(x: Any, h: Any, c: Any, weight: Any, bias: Any) -> tuple[State, Callable[..., Any]]:
    """Return the next (h, c) and their gradient, by LSTMBlockCellGrad: TensorFlow 2 has it, and connects it no more."""
    none = tf.zeros_like(bias[: bias.shape[0] // 4])
    given = {"x": x, "cs_prev": c, "h_prev": h, "w": weight, "wci": none, "wcf": none, "wco": none, "b": bias}
    found = tf.raw_ops.LSTMBlockCell(**given, forget_bias=0.0, cell_clip=_UNCLIPPED, use_peephole=False)

    def differentiate(of_h: Any, of_c: Any) -> tuple[Any, ...]:
        kept = {name: getattr(found, name) for name in ("i", "cs", "f", "o", "ci", "co")}
        back = tf.raw_ops.LSTMBlockCellGrad(**given, **kept, cs_grad=of_c, h_grad=of_h, use_peephole=False)
        # What it calls dicfo is the gradient by the gates before their functions, in the order of the weight.
        inputs = tf.matmul(back.dicfo, weight, transpose_b=True)
        weights = tf.matmul(tf.concat([x, h], 1), back.dicfo, transpose_a=True)
        features = x.shape[1]
        return inputs[:, :features], inputs[:, features:], back.cs_prev_grad, weights, tf.reduce_sum(back.dicfo, 0)

    return (found.h, found.cs), differentiate


def by_block(x: Any, state: State, counts: Any, weight: Any, recurrent: Any, bias: Any) -> tuple[Any, State]:
    """Return the sequence of h and the last (h, c) by BlockLSTM, whose own lengths are one for the whole batch.

    BlockLSTMV2 has another order of gates, for which TensorFlow 2.21's gradient, that of BlockLSTM, is wrong.
    """
    h, c = state
    none = tf.zeros_like(bias[: bias.shape[0] // 4])
    found = tf.raw_ops.BlockLSTM(
        seq_len_max=tf.constant(x.shape[1], tf.int64),
        x=tf.transpose(x, (1, 0, 2)),
        cs_prev=c,
        h_prev=h,
        w=_reordered(tf.concat([weight, recurrent], 0), 1),
        wci=none,
        wcf=none,
        wco=none,
        b=_reordered(bias, 0),
        forget_bias=0.0,
        cell_clip=_UNCLIPPED,
        use_peephole=False,
    )
    sequence, cells = (tf.transpose(one, (1, 0, 2)) for one in (found.h, found.cs))
    last = tuple(tf.gather(one, counts - 1, axis=1, batch_dims=1) for one in (sequence, cells))
    inside = tf.sequence_mask(counts, x.shape[1])[..., None]
    return tf.where(inside, sequence, tf.zeros_like(sequence)), last


def by_cudnn(x: Any, state: State, counts: Any, weight: Any, recurrent: Any, bias: Any) -> tuple[Any, State]:
    """Return the same by cuDNN, whose two biases are this one and zero; it gives zeros beyond a sample's length."""
    h, c = state
    gates = [*tf.split(weight, 4, axis=1), *tf.split(recurrent, 4, axis=1)]
    flat = [tf.reshape(tf.transpose(gate), (-1,)) for gate in gates]
    found = tf.raw_ops.CudnnRNNV3(
        input=x,
        input_h=h[:, None],
        input_c=c[:, None],
        params=tf.concat([*flat, bias, tf.zeros_like(bias)], 0),
        sequence_lengths=counts,
        rnn_mode="lstm",
        is_training=True,
        time_major=False,
    )
    return found.output, (found.output_h[:, 0], found.output_c[:, 0])


def _reordered(array: Any, axis: int) -> Any:
    """Return the columns i, f, g, o as i, g, f, o, the order of LSTMBlockCell and BlockLSTM."""
    i, f, g, o = tf.split(array, 4, axis=axis)
    return tf.concat([i, g, f, o], axis)
