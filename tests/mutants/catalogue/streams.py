"""Steps that do their work where each is waited for, as in a certificate, and not in the streams that are timed."""

from __future__ import annotations

from typing import NamedTuple

from catalogue.mutant import COUNTED, STREAMED, WAITED, Mutant


class Texts(NamedTuple):
    """Where a framework's engine begins to train, to infer, and to wait."""

    train: str
    infer: str
    waits: tuple[str, ...]


TEXTS = {
    "torch": Texts(
        "        inputs, targets = batch\n        self._optimizer.zero_grad()\n",
        "        with torch.inference_mode():\n            self._outputs = self._forward(batch[0])\n",
        ('        """Return when all that was started on the device is done."""\n',),
    ),
    "jax": Texts(
        "        self._state, self._loss = self._advance(self._state, batch)\n",
        "        state = self._state\n        self._outputs = self._forward(",
        (
            '        """Return when loss, parameters and the optimiser\'s state of the last step exist."""\n',
            '        """Return when the last outputs exist: they are computed after all earlier ones."""\n',
        ),
    ),
    "tensorflow": Texts(
        "        self._last = self._run(*batch)\n",
        "        self._last = self._run(batch[0])\n",
        ("        if self._on_gpu:\n            self._synchronize()\n        elif ",),
    ),
    "mlx": Texts(
        "        self._loss = self._advance(*batch)\n",
        "        self._results = self._forward(batch[0])\n",
        ('        """Return when the results of all started steps exist."""\n',),
    ),
    "jittor": Texts(
        "        inputs, targets = batch\n        self._loss = self._loss_of(nn, ",
        "        with jt.no_grad():\n            self._outputs = self._network(batch[0])\n",
        ('        """Return when all that was noted is computed."""\n',),
    ),
}


def _waiting(framework: str) -> list[tuple[str, str]]:
    """Return what has a framework's waits forget how many steps are under way."""
    is_line = framework == "tensorflow"
    return [(text, WAITED + text if is_line else text + WAITED) for text in TEXTS[framework].waits]


THIRD = STREAMED.replace("% 2", "% 3")

SPOILS = """\
        self._streamed = getattr(self, "_streamed", 0) + 1
        if self._streamed > 1:
            with torch.no_grad():
                next(iter(self._network.parameters())).fill_(float("nan"))
            return
"""

QUARTER = """\
        self._streamed = getattr(self, "_streamed", 0) + 1
        if self._streamed > 1:
            batch = tuple(part[: len(part) // 4] for part in batch)
"""

HALF = """\
        self._streamed = getattr(self, "_streamed", 0) + 1
        if self._streamed > 1:
            self._optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16):
                loss = self._loss_of(*batch)
            self._update.backward(loss)
            self._update.step()
            self._loss = loss
            return
"""

LEAVES_OUT = COUNTED + "        if self._calls > 30 and self._calls % 10 == 0:\n            return\n"

MUTANTS = [
    *(
        Mutant(
            framework,
            "engine",
            "engine.py",
            "a step does nothing where the one before it was not waited for",
            [(texts.train, STREAMED + texts.train), *_waiting(framework)],
            {"race": "tie"},
        )
        for framework, texts in TEXTS.items()
    ),
    *(
        Mutant(
            framework,
            "engine",
            "engine.py",
            "inference does nothing where the step before it was not waited for",
            [(texts.infer, STREAMED + texts.infer), *_waiting(framework)],
            {"race/infer": "tie"},
        )
        for framework, texts in TEXTS.items()
    ),
    Mutant(
        "torch",
        "engine",
        "engine.py",
        "inference leaves out every third step of a stream",
        [(TEXTS["torch"].infer, THIRD + TEXTS["torch"].infer), *_waiting("torch")],
        {"race/infer": "tie"},
    ),
    Mutant(
        "torch",
        "engine",
        "engine.py",
        "a step that is not waited for leaves no numbers",
        [(TEXTS["torch"].train, SPOILS + TEXTS["torch"].train), *_waiting("torch")],
        {"race": "tie"},
    ),
    Mutant(
        "torch",
        "engine",
        "engine.py",
        "a quarter of the batch where the step before was not waited for",
        [(TEXTS["torch"].train, QUARTER + TEXTS["torch"].train), *_waiting("torch")],
        {"race": "tie"},
    ),
    Mutant(
        "torch",
        "engine",
        "engine.py",
        "bfloat16 where the step before was not waited for",
        [(TEXTS["torch"].train, HALF + TEXTS["torch"].train), *_waiting("torch")],
        {"race": "tie"},
    ),
    Mutant(
        "torch",
        "engine",
        "engine.py",
        "behind 30 steps every tenth does nothing",
        [(TEXTS["torch"].train, LEAVES_OUT + TEXTS["torch"].train)],
        {"race": "tie"},
    ),
]
