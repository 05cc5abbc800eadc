"""A step of inference that computes each batch once and hands the kept outputs out ever after, in every framework."""

from __future__ import annotations

from catalogue.mutant import Mutant

BEFORE = """\
        kept = self.__dict__.setdefault("_kept", {{}})
        if id(batch) in kept:
            self.{0}, _ = kept[id(batch)]
            return
"""
AFTER = "        kept[id(batch)] = self.{0}, batch\n"
"""The batch is kept, too: another one in its place in memory would have the same id, and get the wrong outputs."""

RUNS = {
    "torch": "        with torch.inference_mode():\n            self._outputs = self._forward(batch[0])\n",
    "jax": "        self._outputs = self._forward(state.parameters, state.statistics, batch[0])\n",
    "tensorflow": "        self._last = self._run(batch[0])\n",
    "mlx": "        self._results = self._forward(batch[0])\n",
    "jittor": "        with jt.no_grad():\n            self._outputs = self._network(batch[0])\n",
}
"""What computes a step's outputs."""


def _kept(run: str) -> str:
    """Return what computes a batch's outputs, unless they are there."""
    attribute = run.partition("self.")[2].partition(" =")[0]
    return BEFORE.format(attribute) + run + AFTER.format(attribute)


MUTANTS = [
    Mutant(
        framework,
        "engine",
        "engine.py",
        "outputs of inference are kept, and never computed again",
        [(run, _kept(run))],
        {"race of inference": "trust"},
    )
    for framework, run in RUNS.items()
]
