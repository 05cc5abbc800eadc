"""Faults in what works along sequences: recurrent layers, loops, attention, CTC, and lengths in workloads' files."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_torch, in_jax, in_tensorflow, in_mlx = (
    partial(Mutant, framework, "vocabulary") for framework in ("torch", "jax", "tensorflow", "mlx")
)

BOTH = {"case/lstm in both directions with lengths": "outputs"}
GRU = {"case/gru": "outputs"}
ATTENTION = {"case/attention with mask, bias and scale": "outputs"}
CTC = {"case/ctc": "loss and gradients"}

LSTM = "        sequence, (h, c) = _whole(super().forward, x, native, lengths)\n"
TURNED = (
    "        ahead, back = sequence.chunk(2, -1) if self.bidirectional else (sequence, sequence[..., :0])\n"
    "        sequence = torch.cat([ahead, back.flip(1)], -1)\n"
)
STATE_OF_GRU = "        native = None if state is None else split(_own(state, x), self.hidden_size)\n"


def _in_workload(name: str, workload: str, old: str, new: str) -> Mutant:
    """Return the mutant of a workload's file, which its independent implementation finds."""
    file = f"workloads/{workload.replace('-', '_')}.py"
    return Mutant("", "workload", file, name, [(old, new)], {f"independent/{workload}": "computed"})


FRAMEWORKS = [
    in_torch(
        "recurrent.py", "an LSTM's outputs backward stand in the order of computing", [(LSTM, LSTM + TURNED)], BOTH
    ),
    in_torch(
        "recurrent.py",
        "a GRU of both directions starts from zeros",
        [(STATE_OF_GRU, STATE_OF_GRU.replace("is None", "is None or self.bidirectional", 1))],
        GRU,
    ),
    in_torch(
        "recurrent.py",
        "an LSTM over padding goes on writing its c there",
        [
            ("_InForce.name, _InForce.lengths = name, lengths", "_InForce.name, _InForce.lengths = name, MASKED"),
            ("= -_CLOSED, _CLOSED", "= 0.0, _CLOSED"),
        ],
        BOTH,
    ),
    in_torch(
        "attention.py",
        "a bias without a mask is left out",
        [("added = mask if bias is None else bias", "added = mask if bias is None or mask is None else bias")],
        ATTENTION,
    ),
    in_torch(
        "attention.py",
        "a bias without a mask is never causal",
        [("if causal and added is not None:", "if causal and mask is not None:")],
        ATTENTION,
    ),
    in_torch(
        "functions.py",
        "take_along_axis gives its elements from the end",
        [("torch.gather(x, axis, indices)", "torch.gather(x, axis, indices.flip(axis))")],
        {"case/indices, segments and constants": "outputs"},
    ),
    in_jax(
        "recurrent.py",
        "all steps of a loop drop alike",
        [("jax.random.fold_in(key, number)", "key")],
        {"dropout in a scan": "of two features both"},
    ),
    in_jax(
        "attention.py",
        "heads of keys serve by turns where the formula is written out",
        [("jnp.repeat(one, groups, axis=2)", "jnp.tile(one, (1, 1, groups, 1))")],
        ATTENTION,
    ),
    in_tensorflow(
        "sequence_losses.py",
        "repeats behind a sample's labels need frames, too",
        [(" * _valid(label_lengths, labels.shape[1])[:, 1:]", "")],
        CTC,
    ),
    in_tensorflow(
        "conv_layers.py",
        "a transposed convolution with output padding cuts as SAME does",
        [("== size and not more", "== size")],
        {"case/transposed convolutions": "outputs"},
    ),
    in_mlx(
        "recurrent.py",
        "a step beyond a sample's length changes its state",
        [("mx.where(inside, new, old) for new, old", "new for new, old")],
        GRU,
    ),
    in_mlx(
        "sequence_losses.py",
        "labels are taken without a blank between equal ones",
        [(" & (states != mx.pad(states, ((0, 0), (2, 0)))[:, :-2])", "")],
        CTC,
    ),
    in_mlx(
        "attention.py",
        "a causal bias without a mask sees what is later",
        [("earlier = mx.tril(mx.ones(", "earlier = (mx.array if mask is None else mx.tril)(mx.ones(")],
        ATTENTION,
    ),
]

WORKLOADS = [
    _in_workload("GPT-2 that sees what is later", "gpt2", "causal=True", "causal=False"),
    _in_workload(
        "reviews of which the last word alone is read", "imdb-lstm", "nn.mean(sequence, 1)", "sequence[:, -1]"
    ),
    _in_workload(
        "Deep Speech 2 whose odd lengths are rounded down",
        "deepspeech2",
        "divide(lengths + 1, 2)",
        "divide(lengths, 2)",
    ),
    _in_workload(
        "Deep Speech 2 whose activations have no bound",
        "deepspeech2",
        "nn.clip(self.narrow_norm(self.narrow(x) * mask) * mask, 0.0, 20.0)",
        "nn.relu(self.narrow_norm(self.narrow(x) * mask) * mask)",
    ),
    _in_workload(
        "Tacotron 2 whose weights of attention are not added up",
        "tacotron2",
        "total + weights), nn.concat",
        "total), nn.concat",
    ),
    _in_workload("GNMT whose loss has a word too many", "gnmt", "is_true = nn.less(", "is_true = nn.less_equal("),
    _in_workload(
        "BERT that attends to one place behind the pair",
        "bert-base",
        "is_token = nn.less(",
        "is_token = nn.less_equal(",
    ),
    _in_workload(
        "text Transformer with the mean over all places", "text-transformer", "1) / nn.to_float(length)", "1) / most"
    ),
]

MUTANTS = [*FRAMEWORKS, *WORKLOADS]
