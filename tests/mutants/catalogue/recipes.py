"""Faults in what an optimiser has beside its plain formula: schedules, groups without decay, clipping."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_torch, in_jax, in_tensorflow, in_mlx, in_jittor = (
    partial(Mutant, framework, "optimiser", "optimizers.py")
    for framework in ("torch", "jax", "tensorflow", "mlx", "jittor")
)

in_schedules = partial(Mutant, "", "certificate", "frameworks/schedules.py")
in_formula = partial(Mutant, "", "certificate", "workloads/schedules.py")

OF_SCHEDULES = "unit/tests/workloads/test_schedules.py"

COSINE = {"optimizer/Nesterov, groups and a cosine": "optimizer"}
LINE = {"optimizer/AdamW, groups, clipping and a line": "optimizer"}
STEP_DECAY = {"optimizer/momentum, clipping and step decay": "optimizer"}
FALLING_ROOT = {"optimizer/Adam, decay, groups, clipping and a falling root": "optimizer"}
STAIRCASE = {"optimizer/RMSprop with momentum, groups and a staircase": "optimizer"}
WARM_UP = {"optimizer/RMSprop, clipping and a warm-up": "optimizer"}

DECAYED = "        [one.grad.add_(one.detach(), alpha=optimizer.weight_decay) for one in clipped]\n"

MUTANTS = [
    in_torch(
        "gradients are not clipped",
        [("        torch.nn.utils.clip_grads_with_norm_(clipped, most, norm - PYTORCHS_EPSILON)\n", "")],
        LINE,
    ),
    in_torch(
        "gradients are clipped by value",
        [("clip_grads_with_norm_(clipped, most, norm - PYTORCHS_EPSILON)", "clip_grad_value_(clipped, most)")],
        LINE,
    ),
    in_torch(
        "each gradient is clipped by its own norm",
        [
            (
                "torch.nn.utils.clip_grads_with_norm_(clipped, most, norm - PYTORCHS_EPSILON)",
                "[torch.nn.utils.clip_grad_norm_([one], most) for one in clipped]",
            )
        ],
        LINE,
    ),
    in_torch(
        "what is clipped has the decay in it",
        [
            ("        norm = torch.nn.utils", f"{DECAYED}        norm = torch.nn.utils"),
            ('"weight_decay": decay, "nesterov"', '"weight_decay": 0.0, "nesterov"'),
        ],
        STEP_DECAY,
    ),
    in_torch(
        "norms and biases decay, too",
        [("native(groups(optimizer, parameters),", "native(list(parameters.values()),")],
        COSINE,
    ),
    in_torch(
        "a schedule counts from 0", [("factor(schedule, count + 1.0, np)", "factor(schedule, count, np)")], COSINE
    ),
    in_torch(
        "a schedule never goes on",
        [("        made.register_step_post_hook(lambda *_: made.schedule.step())\n", "")],
        WARM_UP,
    ),
    in_torch(
        "Adam decays as AdamW does, beside the gradient",
        [("return torch.optim.Adam,", "return torch.optim.AdamW,")],
        FALLING_ROOT,
    ),
    in_torch(
        "RMSprop has no momentum",
        [('beside = {"momentum": momentum, "weight_decay": decay}', 'beside = {"weight_decay": decay}')],
        STAIRCASE,
    ),
    in_jax(
        "a schedule's rate is within RMSprop's momentum, as optax has it",
        [
            (
                "optax.chain(scaled, optax.trace(momentum), optax.scale_by_learning_rate(rate))",
                "optax.chain(scaled, optax.scale_by_learning_rate(rate), optax.trace(momentum))",
            )
        ],
        STAIRCASE,
    ),
    in_tensorflow(
        "a schedule's rate is within RMSprop's momentum, as Keras has it",
        [
            (
                "self.assign(m, ops.add(kept, ops.divide(gradient, denominator)))",
                "self.assign(m, ops.add(kept, ops.multiply(rate, ops.divide(gradient, denominator))))",
            ),
            ("self.assign_sub(variable, ops.multiply(rate, m))", "self.assign_sub(variable, m)"),
        ],
        STAIRCASE,
    ),
    in_jittor(
        "those without decay have RMSprop's",
        [('decay = group.get("weight_decay", self._decay)', "decay = self._decay")],
        STAIRCASE,
    ),
    in_mlx(
        "RMSprop's momentum is of gradients",
        [
            (
                'self._momentum * state["m"] + gradient / (mx.sqrt(state["v"]) + self.eps)',
                '(self._momentum * state["m"] + gradient) / (mx.sqrt(state["v"]) + self.eps)',
            )
        ],
        STAIRCASE,
    ),
    in_jax(
        "the rate of a schedule is that of the compiled step",
        [("count.astype(jnp.result_type(float)) + 1.0", "1.0")],
        WARM_UP,
    ),
    in_jax(
        "the mask of the decay is the other way round",
        [("name not in spared for name", "name in spared for name")],
        LINE,
    ),
    in_jax(
        "gradients are clipped behind the momentum",
        [
            (
                "parts.insert(0, optax.clip_by_global_norm(optimizer.clip_norm))",
                "parts.append(optax.clip_by_global_norm(optimizer.clip_norm))",
            )
        ],
        STEP_DECAY,
    ),
    in_tensorflow(
        "a schedule's rate is within the velocity, as Keras has it",
        [("if schedule is not None and momentum:", "if schedule is not None and momentum and False:")],
        STEP_DECAY,
    ),
    in_tensorflow(
        "a schedule counts from 0, as Keras does",
        [("keras.config.floatx()) + 1.0", "keras.config.floatx())")],
        WARM_UP,
    ),
    in_tensorflow(
        "all decay alike",
        [("        native.exclude_from_weight_decay(", "        dict(")],
        LINE,
    ),
    in_mlx(
        "those without decay are the others",
        [("names[path] in group", "names[path] not in group")],
        LINE,
    ),
    in_mlx(
        "gradients are scaled up to the norm, too",
        [("mx.minimum(most / mx.sqrt(squared), 1.0)", "most / mx.sqrt(squared)")],
        WARM_UP,
    ),
    in_mlx(
        "momentum is not Nesterov's",
        [("momentum=momentum, weight_decay=decay, nesterov=nesterov)\n", "momentum=momentum, weight_decay=decay)\n")],
        COSINE,
    ),
    in_jittor(
        "a schedule is a step behind",
        [("native.n_step + 1.0, np", "max(native.n_step, 1.0), np")],
        WARM_UP,
    ),
    in_schedules(
        "a power's rate falls in a line",
        [(" / (steps - warmup), 1.0)) ** power", " / (steps - warmup), 1.0))")],
        {OF_SCHEDULES: "test_what_frameworks_compute_is_the_same"},
    ),
    in_schedules(
        "a power's rate falls during its warm-up, too",
        [
            (
                "(1.0 - ops.minimum((t - warmup) / (steps - warmup), 1.0)) ** power",
                "(1.0 - ops.minimum(t / steps, 1.0)) ** power",
            )
        ],
        {OF_SCHEDULES: "test_what_frameworks_compute_is_the_same"},
    ),
    in_schedules(
        "a staircase is a slope",
        [("ops.floor((t - 0.5 - warmup) / every) if staircase else ", "")],
        {OF_SCHEDULES: "test_what_frameworks_compute_is_the_same"},
    ),
    in_schedules(
        "cycles that restart have one length",
        [("            if growth > 1:\n", "            if False:\n")],
        {OF_SCHEDULES: "test_what_frameworks_compute_is_the_same"},
    ),
    in_schedules(
        "the first step of a cycle may be the last one of the one before",
        [("ops.floor((done + 0.5) / length)", "ops.floor(done / length)")],
        {OF_SCHEDULES: "test_cycles_restart_where_they_should_in_float32"},
    ),
    in_schedules(
        "triangles fall at once",
        [("(up + down - done) / down)", "0.0 * done)")],
        {OF_SCHEDULES: "test_what_frameworks_compute_is_the_same"},
    ),
    in_schedules(
        "one cycle rises in a line",
        [
            (
                "(first - 1.0) * _half_cosine((t - 1.0) / (rise - 1.0), ops)",
                "(first - 1.0) * (1.0 - (t - 1.0) / (rise - 1.0))",
            )
        ],
        {OF_SCHEDULES: "test_what_frameworks_compute_is_the_same"},
    ),
    in_schedules(
        "a plateau is a slope",
        [("ops.minimum(ops.maximum((t - (steps - decay)) / decay, 0.0), 1.0)", "ops.minimum(t / steps, 1.0)")],
        {OF_SCHEDULES: "test_what_frameworks_compute_is_the_same"},
    ),
    in_formula(
        "a power's rate begins to fall before its warm-up ends",
        [
            (
                "            found = final + (1 - final) * (1 - _progress(t, warmup, steps)) ** power",
                "            found = final + (1 - final) * (1 - _progress(t, 0, steps)) ** power",
            )
        ],
        {OF_SCHEDULES: "test_factors_are_those_by_hand"},
    ),
]
