"""Faults of inference in every framework: outputs that are kept, a model left in training, a precision cut down."""

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


KEPT = [
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

MADE = {
    "jax": "        self._outputs: jax.Array | None = None\n",
    "tensorflow": "        self._run = self._forward\n",
    "mlx": "        self._model.eval()\n\n    def run",
    "jittor": "        network.eval()\n",
}
"""What makes a step of inference."""

TRAINS = {
    "jax": """\
        def evaluate(parameters, statistics, inputs):
            with phase.training(jax.random.key(0)):
                return self._evaluate(parameters, statistics, inputs)

        self._forward_in_training = switches.executed(evaluate)
""",
    "tensorflow": """\
        def evaluate(inputs):
            with phase.training():
                return self._evaluate(inputs)

        self._run = in_mode(replicas.each(evaluate), options["mode"])
""",
    "mlx": """\
        def evaluate(inputs):
            self._model.train()
            outputs = self._model(inputs)
            self._model.eval()
            return outputs

        state = [self._model.state, mx.random.state]
        self._forward_in_training = executed(evaluate, self._mode, reads=state, writes=state)
        self._model.eval()
""",
    "jittor": "        _set_training(network, training=True)\n",
}
"""What makes one that is in training: a function of its own where one that was traced for `outputs` would be found."""

IN_TRAINING = {
    "jax": [
        (MADE["jax"], MADE["jax"] + TRAINS["jax"]),
        (RUNS["jax"], RUNS["jax"].replace("._forward(", "._forward_in_training(")),
    ],
    "tensorflow": [(MADE["tensorflow"], TRAINS["tensorflow"])],
    "mlx": [
        (MADE["mlx"], TRAINS["mlx"] + "\n    def run"),
        (RUNS["mlx"], RUNS["mlx"].replace("._forward(", "._forward_in_training(")),
    ],
    "jittor": [(MADE["jittor"], MADE["jittor"] + TRAINS["jittor"])],
}

_AROUND = {"jax": "phase.training(jax.random.key(0))", "tensorflow": "phase.training()"}
AROUND = {name: f"        with {mode}:\n    {RUNS[name]}" for name, mode in _AROUND.items()}
"""The mode is set around the call: what `outputs` has traced before, in evaluation, would be run none the less."""

REDUCED = {
    "jax": [
        (
            RUNS["jax"],
            """\
        parameters, inputs = jax.tree.map(
            lambda one: one.astype(jnp.bfloat16) if one.dtype == jnp.float32 else one, (state.parameters, batch[0])
        )
        self._outputs = self._forward(parameters, state.statistics, inputs).astype(jnp.float32)
""",
        )
    ],
    "tensorflow": [
        (
            MADE["tensorflow"],
            """\
        def evaluate(inputs):
            asked, policy = self._precision, keras.config.dtype_policy()
            layers = list(self._net._flatten(predicate=lambda one: isinstance(one, keras.layers.Layer)))
            self._precision = __import__("copy").copy(asked)
            self._precision._compute = "bfloat16"
            for layer in layers:
                layer.dtype_policy = "mixed_bfloat16"
            outputs = self._evaluate(inputs)
            self._precision = asked
            for layer in layers:
                layer.dtype_policy = policy
            return outputs

        self._run = in_mode(replicas.each(evaluate), options["mode"])
""",
        )
    ],
    "mlx": [
        (
            RUNS["mlx"],
            """\
        before = self._model.parameters()
        self._model.update(mlx.utils.tree_map(lambda one: one.astype(mx.bfloat16), before))
        self._results = self._forward(batch[0].astype(mx.bfloat16)).astype(mx.float32)
        self._model.update(before)
""",
        )
    ],
}
"""Settings that are read back, and outputs that are asked for, stay in the precision that was asked for."""

MUTANTS = [
    *KEPT,
    *(
        Mutant(framework, "engine", "engine.py", "inference in training mode", changes, {"gcn-arxiv/infer": "ran"})
        for framework, changes in IN_TRAINING.items()
    ),
    *(
        Mutant(
            framework,
            "engine",
            "engine.py",
            "inference in training mode, set around the call",
            [(RUNS[framework], call)],
            {"gcn-arxiv/infer": "outputs"},
        )
        for framework, call in AROUND.items()
    ),
    *(
        Mutant(framework, "engine", "engine.py", "inference in bfloat16", changes, {"mlp-mnist/infer": "ran"})
        for framework, changes in REDUCED.items()
    ),
]
