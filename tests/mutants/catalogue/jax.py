"""Faults in JAX's folder."""

from __future__ import annotations

from functools import partial

from catalogue.jax_steps import RUN, in_steps
from catalogue.mutant import COUNTED, Mutant

in_nn = partial(Mutant, "jax", "vocabulary", "nn.py")
in_phase = partial(Mutant, "jax", "vocabulary", "phase.py")
in_maps = partial(Mutant, "jax", "vocabulary", "maps.py")
in_convolutions = partial(Mutant, "jax", "vocabulary", "conv_layers.py")
in_phase = partial(Mutant, "jax", "vocabulary", "phase.py")
in_losses = partial(Mutant, "jax", "vocabulary", "losses.py")
in_optimizers = partial(Mutant, "jax", "optimiser", "optimizers.py")
in_feed = partial(Mutant, "jax", "feed", "input.py")
in_clock = partial(Mutant, "jax", "clock", "engine.py")

NEXT = "        return self._replicas.settled(State(parameters, optimizer, statistics, key, scale)), loss\n"
FORGOTTEN = "parameters, optimizer = state.parameters, state.optimizer\n"
RAN = "        state = self._state\n        self._outputs = self._forward("
FIRST = COUNTED + "        kept = snapshots.copied(self._state).statistics\n"
ALONE = """\
        if self._calls > 1:
            self._state = self._state._replace(statistics=kept)
"""
WAIT = "        jax.block_until_ready((self._state, self._loss))\n"

VOCABULARY = [
    in_nn(
        "BatchNorm's momentum is the weight of the old value",
        [("momentum=1 - momentum", "momentum=momentum")],
        {"case/batch norm of vectors": "running statistics"},
    ),
    in_nn(
        "LayerNorm takes flax's default epsilon",
        [("epsilon=epsilon, use_bias=bias", "use_bias=bias")],
        {"case/layer norm": "outputs", "case/layer norm with an epsilon": "outputs"},
    ),
    in_nn(
        "GELU is flax's default, by tanh",
        [("nnx.gelu(x, approximate=False)", "nnx.gelu(x)")],
        {"case/gelu": "outputs"},
    ),
    in_nn(
        "dropout keeps what it should drop",
        [("        super().__init__(rate)\n", "        super().__init__(1 - rate if rate else rate)\n")],
        {"dropout/0.1": "the share of dropped elements", "dropout/0.75": "the share of dropped elements"},
    ),
    in_phase(
        "every step drops the same",
        [("jax.random.fold_in(key, number)", "jax.random.fold_in(jax.random.key(0), number)")],
        {"dropout/0.3": "equal losses of steps"},
    ),
    in_maps(
        "average pooling counts the padding",
        [("count_include_pad=counts", "count_include_pad=True")],
        {"case/avg_pool2d with padding": "outputs"},
    ),
    in_convolutions(
        "convolutions pad as flax's SAME does",
        [("padding=((vertical, vertical), (horizontal, horizontal))", 'padding="SAME" if vertical else "VALID"')],
        {"case/conv2d with stride on an even side": "outputs"},
    ),
    in_maps(
        "a map is blurred before it becomes smaller, as JAX does by default",
        [("method, antialias=False)", "method)")],
        {"case/sizes of maps": "outputs"},
    ),
    in_convolutions(
        "output padding stands before the result",
        [("(window - 1 - side, window - 1 - side + end)", "(window - 1 - side + end, window - 1 - side)")],
        {"case/transposed convolutions": "outputs"},
    ),
    in_losses(
        "cross-entropy is a sum",
        [('"mean": jnp.mean}', '"mean": jnp.sum}')],
        {"case/linear": "loss and gradients", "mlp-mnist/train": "loss"},
    ),
]

STEPS = [
    in_steps(
        "gradients are clipped to a norm of 0.1",
        [
            (
                "self._transformation = optimizers.make(optimizer)\n",
                (
                    "optax = optimizers.optax\n        clip = optax.clip_by_global_norm(0.1)\n"
                    "        self._transformation = optax.chain(clip, optimizers.make(optimizer))\n"
                ),
            )
        ],
        {"cnn-cifar10/train": "update"},
    ),
    in_steps(
        "running statistics stay what they were",
        [(NEXT, NEXT.replace("statistics,", "state.statistics,"))],
        {"case/batch norm of vectors": "running statistics"},
    ),
    in_steps(
        "running statistics move in the first step alone",
        [(RUN, FIRST + RUN + ALONE)],
        {"gcn-arxiv/train": "state"},
    ),
    in_steps(
        "inference of half the batch",
        [(RAN, "        batch = batch[0][: len(batch[0]) // 2], batch[1]\n" + RAN)],
        {"mlp-mnist/infer": "ran"},
    ),
    in_steps(
        "inference computes nothing after the first batch",
        [(RAN, "        if self._outputs is not None:\n            return\n" + RAN)],
        {"mlp-mnist/infer": "ran"},
    ),
]

OPTIMIZERS = [
    in_optimizers(
        "weight decay after momentum",
        [
            (
                "return _decayed(optimizer, decay, sgd)",
                "return optax.chain(optax.trace(momentum), optax.add_decayed_weights(decay), optax.scale(-rate))",
            )
        ],
        {"optimizer/SGD with decay": "optimizer"},
    ),
    in_optimizers(
        "RMSprop's epsilon is within the root, as optax has it",
        [("optax.rmsprop(rate, decay=decay, eps=epsilon, eps_in_sqrt=False)", "optax.rmsprop(rate, decay, epsilon)")],
        {"optimizer/RMSprop with a large epsilon": "optimizer"},
    ),
    in_optimizers(
        "no weight decay of vectors",
        [
            (
                "weight_decay=decay, mask=_mask(optimizer))",
                "weight_decay=decay, mask=lambda tree: {n: a.ndim > 1 for n, a in tree.items()})",
            )
        ],
        {"optimizer/AdamW with a large decay": "optimizer"},
    ),
]

FEEDS = [
    in_feed(
        "each batch is copied in the first epoch alone",
        [("yield from map(self._put, cycle(batches))", "yield from cycle([*map(self._put, batches)])")],
        {"input/per-step/linear": "arrays of the epoch before"},
    ),
    in_feed(
        "shuffling by hand draws with replacement",
        [("order = random.permutation(self._count)", "order = random.integers(self._count, size=self._count)")],
        {"input/hand/linear": "missing in epoch 0"},
    ),
    in_feed(
        "labels shuffled by hand are the next sample's",
        [
            (
                "yield self._put(tuple(array[chosen] for array in self._arrays))",
                "yield self._put((self._arrays[0][chosen], self._arrays[1][chosen - 1]))",
            )
        ],
        {"input/hand/linear": "with another label in epoch 0"},
    ),
    in_feed(
        "Grain does not shuffle",
        [(".seed(self._seed).shuffle()", ".seed(self._seed)")],
        {"input/pipeline/linear": "orders that come twice"},
    ),
]

CLOCK = [
    in_clock("waiting does nothing", [(WAIT, "        return\n")], {"timer": "profiler or fetching"}),
    in_clock(
        "new parameters of timed trials are not kept",
        [(NEXT, "        if 'r01-' in str(__import__('sys').argv):\n            " + FORGOTTEN + NEXT)],
        {"race": "tie"},
    ),
]

MUTANTS = [*VOCABULARY, *STEPS, *OPTIMIZERS, *FEEDS, *CLOCK]
