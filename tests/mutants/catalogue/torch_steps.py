"""Faults in PyTorch's steps, optimisers, ways of input and clock."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import COUNTED, HALVES, LATER, SKIPS, Mutant

in_steps = partial(Mutant, "torch", "engine", "engine.py")
in_optimizers = partial(Mutant, "torch", "optimiser", "optimizers.py")
in_feed = partial(Mutant, "torch", "feed", "input.py")
in_clock = partial(Mutant, "torch", "clock")

TAKEN = "        inputs, targets = batch\n        self._optimizer.zero_grad()\n"
UPDATED = "        self._update.step()\n"
PUT_BACK = "        snapshots.put_back(snapshot, self._network, self._optimizer)\n"
MADE = "self._optimizer = optimizers.make(optimizer, named, switches.kernel)\n"
LOSS = "        loss = self._loss_of(inputs, targets)\n        self._update.backward(loss)\n"
REDUCED = """\
        with torch.autocast("cpu", torch.bfloat16, enabled=self._calls > 1):
            loss = self._loss_of(inputs, targets)
        self._update.backward(loss)
"""
SHADOW = """\
        with torch.autocast("cpu", torch.bfloat16):
            shadow = self._loss_of(inputs, targets)
"""
KEPT = "            self._outputs = self._forward(batch[0])\n"

WITHOUT_DECAY = """\
        (group,) = self._optimizer.param_groups
        flat = [parameter for parameter in group["params"] if parameter.ndim == 1]
        group["params"] = [parameter for parameter in group["params"] if parameter.ndim != 1]
        same = {name: value for name, value in group.items() if name != "params"}
        self._optimizer.add_param_group(same | {"params": flat, "weight_decay": 0.0})
"""

SLOWER = WITHOUT_DECAY.replace('"weight_decay": 0.0', '"lr": 0.5 * group["lr"]')

ANOTHER = """\
        from bakeoff.spec.optimizer import SGD
        self._optimizer = optimizers.make(SGD(learning_rate=0.01), named, switches.kernel)
"""

BEFORE = """\
        fresh = [parameter.grad.clone() for parameter in self._network.parameters()]
        for parameter, gradient in zip(self._network.parameters(), getattr(self, "_stale", fresh)):
            parameter.grad.copy_(gradient)
        self._stale = fresh
"""

FLAT = """\
    if "weight_decay" in arguments:
        flat = tuple(name for name, one in parameters.items() if one.ndim < 2)
        optimizer = type(optimizer)(learning_rate=optimizer.learning_rate, no_decay=flat)
    made = native("""


def later(lines: str) -> list[tuple[str, str]]:
    """Return the change by which a step from the second one on begins with another line."""
    return [(TAKEN, LATER + lines + TAKEN)]


BOTH = {"mlp-mnist/train": "update", "resnet50/train": "update"}

SHUFFLED = "            shuffle=True,\n            generator=torch.Generator().manual_seed(self._seed),\n"
REPLACED = """\
            sampler=torch.utils.data.RandomSampler(range(self._count), replacement=True),
            generator=torch.Generator().manual_seed(self._seed),
"""
MOVED = "                yield self._moved(tensors, pinned=self._pinned)\n"

STEPS = [
    in_steps("no optimiser step", [(UPDATED, "")], BOTH),
    in_steps(
        "every second step does nothing",
        [
            (
                TAKEN,
                SKIPS + TAKEN,
            )
        ],
        BOTH,
    ),
    in_steps(
        "only the head is trained",
        [
            (
                UPDATED,
                "        for parameter in list(self._network.parameters())[:-2]:\n"
                "            parameter.grad = None\n" + UPDATED,
            )
        ],
        BOTH,
    ),
    in_steps(
        "half the learning rate",
        [(MADE, MADE + '        for group in self._optimizer.param_groups:\n            group["lr"] *= 0.5\n')],
        BOTH | {"inceptionv3/train": "update"},
    ),
    in_steps("vectors learn at half the rate", [(MADE, MADE + SLOWER)], BOTH),
    in_steps("another optimiser than the workload's", [(MADE, MADE + ANOTHER)], BOTH),
    in_steps("the gradients of the step before", [(UPDATED, BEFORE + UPDATED)], BOTH),
    in_steps(
        "half the batch from the second step on",
        later(HALVES.lstrip()),
        BOTH,
    ),
    in_steps(
        "half the batch",
        [(TAKEN, HALVES + TAKEN)],
        {"mlp-mnist/train": "loss", "resnet50/train": "loss"},
    ),
    in_steps(
        "running statistics move in the first step alone",
        later("for layer in self._network.modules():\n                layer.momentum = 0.0\n"),
        {"resnet50/train": "state"},
    ),
    in_steps("gradients are never cleared", [("        self._optimizer.zero_grad()\n", "")], BOTH),
    in_steps("bfloat16 from the second step on", [*later("pass\n"), (LOSS, REDUCED)], BOTH),
    in_steps("labels of other samples from the second step on", later("batch = batch[0], batch[1].roll(1, 0)\n"), BOTH),
    in_steps(
        "one wrong label from the second step on",
        later("batch = batch[0], torch.cat([batch[1][1:2], batch[1][1:]])\n"),
        BOTH,
    ),
    in_steps(
        "no weight decay of normalisations",
        [(MADE, MADE + WITHOUT_DECAY)],
        {"resnet50/train": "update", "inceptionv3/train": "update", "vit-b16/train": "update"},
    ),
    in_steps(
        "gradients are clipped to a norm of 1",
        [(UPDATED, "        torch.nn.utils.clip_grad_norm_(self._network.parameters(), 1.0)\n" + UPDATED)],
        {"resnet50/train": "update"},
    ),
    in_steps(
        "training in evaluation mode",
        [(MADE, MADE + "        network.eval()\n")],
        {"resnet50/train": "loss", "mlp-mnist/train": ""},
    ),
    in_steps(
        "inference computes nothing after the first batch",
        [(KEPT, "            if not hasattr(self, '_outputs'):\n    " + KEPT)],
        {"mlp-mnist/infer": "ran", "resnet50/infer": "ran"},
    ),
    in_steps(
        "inference of half the batch",
        [(KEPT, KEPT.replace("batch[0]", "batch[0][: len(batch[0]) // 2]"))],
        {"mlp-mnist/infer": "ran", "resnet50/infer": "ran"},
    ),
    in_steps(
        "inference in bfloat16",
        [(KEPT, '            with torch.autocast("cpu", torch.bfloat16):\n    ' + KEPT)],
        {"mlp-mnist/infer": "ran", "resnet50/infer": "ran"},
    ),
    in_steps(
        "inference in training mode",
        [(KEPT, "            self._network.train()\n" + KEPT)],
        {"resnet50/infer": "ran", "mlp-mnist/infer": ""},
    ),
]

OPTIMIZERS = [
    in_optimizers(
        "ten times Adam's epsilon",
        [
            (
                'return torch.optim.Adam, {"lr": rate, "betas": (beta1, beta2), "eps": epsilon,',
                'return torch.optim.Adam, {"lr": rate, "betas": (beta1, beta2), "eps": 10 * epsilon,',
            )
        ],
        {"optimizer/Adam": "optimizer", "mlp-mnist/train": "optimizer"},
    ),
    in_optimizers(
        "Adam's beta2 is 0.99",
        [
            (
                'return torch.optim.Adam, {"lr": rate, "betas": (beta1, beta2)',
                'return torch.optim.Adam, {"lr": rate, "betas": (beta1, 0.99)',
            )
        ],
        {"optimizer/Adam": "optimizer", "mlp-mnist/train": "optimizer"},
    ),
    in_optimizers(
        "AdamW decays as Adam does, within the gradient",
        [("return torch.optim.AdamW,", "return torch.optim.Adam,")],
        {"optimizer/AdamW": "optimizer", "vit-b16/train": "optimizer"},
    ),
    in_optimizers(
        "no weight decay of vectors",
        [("    made = native(", FLAT)],
        {"optimizer/SGD with decay": "optimizer", "resnet50/train": "update"},
    ),
    in_optimizers(
        "SGD without weight decay",
        [('"momentum": momentum, "weight_decay": decay, ', '"momentum": momentum, ')],
        {"optimizer/SGD with decay": "optimizer", "resnet50/train": "optimizer"},
    ),
    in_optimizers(
        "Nesterov's momentum",
        [('"nesterov": nesterov}', '"nesterov": momentum > 0}')],
        {"optimizer/SGD with momentum": "optimizer", "resnet50/train": "optimizer"},
    ),
    in_optimizers(
        "centred RMSprop",
        [('"alpha": kept, "eps": epsilon,', '"alpha": kept, "eps": epsilon, "centered": True,')],
        {"optimizer/RMSprop": "optimizer", "resnet50-cifar10/train": "optimizer"},
    ),
]

FEEDS = [
    in_feed(
        "the loader draws with replacement: samples are missing, others come twice",
        [(SHUFFLED, REPLACED)],
        {"input/pipeline/linear": "missing in epoch 0"},
    ),
    in_feed(
        "the loader does not shuffle",
        [("shuffle=True", "shuffle=False")],
        {"input/pipeline/linear": "orders that come twice"},
    ),
    in_feed(
        "the loader's labels are the next sample's",
        [(MOVED, "                tensors[1] = tensors[1].roll(1)\n" + MOVED)],
        {"input/pipeline/linear": "with another label in epoch 0"},
    ),
    in_feed(
        "copies come in the opposite order",
        [("cycle(self._cut())", "cycle(self._cut()[::-1])")],
        {"input/per-step/linear": "x in another place"},
    ),
    in_feed(
        "the first batch is copied again and again",
        [("cycle(self._cut())", "cycle(self._cut()[:1])")],
        {"input/per-step/linear": "x in another place"},
    ),
    in_feed(
        "height and width are swapped",
        [
            (
                "arrays = [channels_first(array).astype",
                "arrays = [channels_first(array.swapaxes(1, 2) if array.ndim == 4 else array).astype",
            )
        ],
        {"input/per-step/conv2d": "x in another place", "input/pipeline/conv2d": "changed in epoch 0"},
    ),
]

CLOCK = [
    in_clock(
        "engine.py",
        "the clock is a tenth short",
        [
            (
                "FEATURE_MAP_AXES = 4",
                "import time\nvirtual_clock = lambda: time.perf_counter_ns() * 9 // 10\nFEATURE_MAP_AXES = 4",
            )
        ],
        {"timer": "profiler"},
    ),
    in_clock(
        "profiling.py",
        "the profiler sees nothing",
        [("ranges = [(event", "ranges = [] and [(event")],
        {"timer": "profiler"},
    ),
    in_clock(
        "engine.py",
        "every second step of timed trials does nothing",
        [
            (
                TAKEN,
                COUNTED
                + "        if 'r01-' in str(__import__('sys').argv) and self._calls % 2 == 0:\n            return\n"
                + TAKEN,
            )
        ],
        {"race": "tie"},
    ),
    in_clock(
        "engine.py",
        "training stops once its state was put back",
        [
            (PUT_BACK, PUT_BACK + "        self._stopped = True\n"),
            (UPDATED, "        if not hasattr(self, '_stopped'):\n    " + UPDATED),
        ],
        {"race": "tie"},
    ),
    in_clock(
        "engine.py",
        "behind the certificate's six steps a step takes half of its batch",
        [
            (
                TAKEN,
                TAKEN + COUNTED + "        if self._calls > 6:\n"
                "            inputs, targets = (part[: len(part) // 2] for part in (inputs, targets))\n",
            )
        ],
        {"race": "tie"},
    ),
    in_clock(
        "engine.py",
        "from step 31 on nothing behind the last layer has a gradient",
        [
            (
                TAKEN,
                TAKEN
                + COUNTED
                + "        for one in list(self._network.parameters())[:-2] if self._calls == 31 else ():\n"
                "            one.requires_grad_(False)\n",
            )
        ],
        {"race": "tie"},
    ),
    in_clock(
        "engine.py",
        "from step 20 on a step takes half of its batch",
        [
            (
                TAKEN,
                TAKEN + COUNTED + "        if self._calls > 20:\n"
                "            inputs, targets = (part[: len(part) // 2] for part in (inputs, targets))\n",
            )
        ],
        {"race": "tie"},
    ),
    in_clock(
        "engine.py",
        "inference computes the first two batches that it meets alone",
        [
            (
                KEPT,
                "            met = self.__dict__.setdefault('_met', set())\n"
                "            which = batch[0].flatten()[:64].sum().item()\n"
                "            if which in met or len(met) < 2:\n"
                "                met.add(which)\n"
                "    " + KEPT,
            )
        ],
        {"race/infer": "tie"},
    ),
    in_clock(
        "engine.py",
        "from step 13 on the backward pass is in bfloat16, and the loss is not",
        [
            (
                LOSS,
                COUNTED
                + LOSS.replace("backward(loss)", "backward(loss if self._calls < 13 else shadow)").replace(
                    "        self._update", SHADOW + "        self._update"
                ),
            )
        ],
        {"race": "tie"},
    ),
    in_clock(
        "engine.py",
        "from step 9 on running statistics stay as they are",
        [
            (
                TAKEN,
                TAKEN + COUNTED + "        for one in self._network.modules() if self._calls == 9 else ():\n"
                "            if hasattr(one, 'running_mean'):\n"
                "                one.momentum = 0.0\n",
            )
        ],
        {"race of statistics": "tie"},
    ),
]

MUTANTS = [*STEPS, *OPTIMIZERS, *FEEDS, *CLOCK]
