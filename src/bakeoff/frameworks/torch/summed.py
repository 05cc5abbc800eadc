"""The LSTM of the reference: the gradient of its recurrent weights is one product over all time steps.

On a processor torch.nn.LSTM has no kernel for sequences in float64. Its backward pass adds to that gradient at every
step, and so reads and writes an array as large as the weights each time: with 1024 units and one sample that is four
fifths of the whole (benchmarks/results/reference-lstm-2026-11-28.md). Values and gradients are those of torch.nn.LSTM.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.autograd.function import once_differentiable

from bakeoff.frameworks.torch.recurrent import LSTM, over_padding, split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.frameworks.torch.recurrent import State


class SummedLSTM(LSTM):
    """One layer of an LSTM over (batch, length, features)."""

    def forward(self, x: Any, state: State | None = None, lengths: Any = None) -> tuple[Any, State]:
        """Return the sequence of h, and the last (h, c)."""
        native = None if state is None else tuple(split(one, self.hidden_size) for one in state)
        if lengths is None:
            lengths = torch.full((x.shape[0],), x.shape[1], device=x.device)
        return over_padding(self, x, native, lengths)

    def kernel(self, x: Any, state: Sequence[Any], weights: Sequence[Any], inside: Any) -> tuple[Any, Any]:
        """Return one direction over all places: each h, and the c at samples' ends."""
        w_ih, w_hh, b_ih, b_hh = weights
        projected = torch.nn.functional.linear(x.transpose(0, 1), w_ih, b_ih + b_hh)
        h, c = (one[0] for one in state)
        hs, cs = _Steps.apply(projected, h, c, w_hh)
        ends = inside.sum(1) - 1
        return hs.transpose(0, 1), cs[ends, torch.arange(len(ends), device=x.device)]


class _Steps(torch.autograd.Function):
    """The steps of one direction, from the inputs' part of the gates (length, batch, 4 * hidden)."""

    @staticmethod
    def forward(ctx: Any, projected: Any, h: Any, c: Any, w_hh: Any) -> tuple[Any, Any]:
        """Return h and c behind every step, (length, batch, hidden) each."""
        hs, cs, gates = [h], [c], []
        for now in projected:
            i, f, g, o = torch.addmm(now, h, w_hh.t()).chunk(4, -1)
            i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
            c = f * c + i * g
            h = o * c.tanh()
            gates.append(torch.stack([i, f, g, o]))
            hs.append(h)
            cs.append(c)
        before, after = (torch.stack(hs[:-1]), torch.stack(cs[:-1])), (torch.stack(hs[1:]), torch.stack(cs[1:]))
        ctx.save_for_backward(*before, after[1], torch.stack(gates), w_hh)
        return after

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dhs: Any, dcs: Any) -> tuple[Any, Any, Any, Any]:
        """Return the gradients of what `forward` was given."""
        h_before, c_before, c_after, gates, w_hh = ctx.saved_tensors
        dh, dc = torch.zeros_like(c_before[0]), torch.zeros_like(c_before[0])
        found = []
        for place in reversed(range(len(gates))):
            i, f, g, o = gates[place]
            squashed = c_after[place].tanh()
            dh = dh + dhs[place]
            dc = dc + dcs[place] + dh * o * (1 - squashed * squashed)
            parts = (
                dc * g * i * (1 - i),
                dc * c_before[place] * f * (1 - f),
                dc * i * (1 - g * g),
                dh * squashed * o * (1 - o),
            )
            found.append(torch.cat(parts, -1))
            dh, dc = found[-1] @ w_hh, dc * f
        d_gates = torch.stack(found[::-1])
        return d_gates, dh, dc, d_gates.flatten(0, 1).t() @ h_before.flatten(0, 1)
