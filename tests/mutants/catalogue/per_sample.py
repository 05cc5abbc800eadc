"""Faults in per-sample gradients: what is clipped, by which norm, what is summed, and the noise."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_torch = partial(Mutant, "torch", "engine", "per_sample.py")
in_jax = partial(Mutant, "jax", "engine", "per_sample.py")

CLIPPED, NORMS, UPDATES = ({"mnist-cnn/per-sample-gradients": check} for check in ("gradients", "norms", "update"))
NOISE = {"imdb-embed/per-sample-gradients": "noise"}
"""The contract asks for noise there."""

TORCHS_SUMS = "return Found(losses.mean(), norms, [torch.tensordot(factors, part, 1) for part in parts])"
TORCHS_FACTORS = f"            factors = most / norms.clamp(min=most)\n            {TORCHS_SUMS}"
"""Of vmap: Opacus' way clips by the same words."""
TORCHS_PARTS = "            parts = [gradients[name] for name in named]\n"
TORCHS_NOISE = "one.add(torch.randn_like(one), alpha=self._asked.deviation)"
TORCHS_STALE = """\
            kept = [part[:1].clone() for part in parts]
            parts = [torch.cat([old, part[1:]]) for old, part in zip(getattr(self, "_old", kept), parts, strict=True)]
            self._old = kept
"""

TORCHS_LATE = """\
sums = [part.sum(0) for part in parts]
            whole = _norms([torch.linalg.vector_norm(one) for one in sums])
            return Found(losses.mean(), norms, [one * most / whole.clamp(min=most) for one in sums])"""

JAXS_SUMS = "jax.tree.map(lambda one: jax.lax.psum(one / divisor, SAMPLES), gradients)"
JAXS_SAMPLES = "            loss, gradients = self._one(parameters, key, sample)\n"
JAXS_NOISE = "deviation * jax.random.normal(each[name], one.shape, one.dtype)"
JAXS_LATE = """\
        sums = jax.tree.map(lambda one: one * self._factor(_norm(sums)), sums)
        return Found(losses.mean(), norms, sums)
"""
JAXS_MEAN = """\
            gradients = jax.tree.map(lambda one: jax.lax.pmean(one, SAMPLES), gradients)
"""

TORCH = [
    in_torch(
        "gradients are clipped after their sum",
        [
            (
                TORCHS_SUMS,
                TORCHS_LATE,
            )
        ],
        CLIPPED,
    ),
    in_torch(
        "no sample is clipped",
        [(TORCHS_FACTORS, TORCHS_FACTORS.replace("most / norms.clamp(min=most)", "torch.ones_like(norms)"))],
        CLIPPED,
    ),
    in_torch(
        "short gradients are made longer",
        [(TORCHS_FACTORS, TORCHS_FACTORS.replace("norms.clamp(min=most)", "norms"))],
        CLIPPED,
    ),
    in_torch(
        "each array of a sample is clipped by its own norm",
        [
            (
                TORCHS_SUMS,
                TORCHS_SUMS.replace(
                    "factors", "most / torch.linalg.vector_norm(part.flatten(1), dim=1).clamp(min=most)"
                ),
            )
        ],
        CLIPPED,
    ),
    in_torch(
        "samples are clipped by the mean of their norms",
        [(TORCHS_FACTORS, TORCHS_FACTORS.replace("norms.clamp(", "norms.mean().expand_as(norms).clamp("))],
        CLIPPED,
    ),
    in_torch(
        "the step takes the sum without dividing it",
        [("            return self._mean(found.sums, found)\n", "            return list(found.sums)\n")],
        UPDATES,
    ),
    in_torch(
        "every sample has the gradient of the batch's mean",
        [
            (
                TORCHS_PARTS,
                "            parts = [gradients[n].mean(0, keepdim=True).expand_as(gradients[n]) for n in named]\n",
            )
        ],
        NORMS,
    ),
    in_torch("a sample is the one of the batch before", [(TORCHS_PARTS, TORCHS_PARTS + TORCHS_STALE)], NORMS),
    in_torch("there is no noise", [(TORCHS_NOISE, "one")], NOISE),
    in_torch(
        "the noise is twice what is asked for", [(TORCHS_NOISE, TORCHS_NOISE.replace("alpha=", "alpha=2.0 * "))], NOISE
    ),
    in_torch(
        "each sample adds noise of its own",
        [(TORCHS_NOISE, TORCHS_NOISE.replace("alpha=", "alpha=len(found.norms) ** 0.5 * "))],
        NOISE,
    ),
    in_torch(
        "every step draws the same noise",
        [("torch.randn_like(one)", "torch.randn(one.shape, generator=torch.Generator().manual_seed(1)).to(one)")],
        NOISE,
    ),
    in_torch(
        "the first elements of an array alone get noise",
        [("torch.randn_like(one)", "torch.randn_like(one) * (torch.arange(one.numel()).reshape(one.shape) < 512)")],
        NOISE,
    ),
    in_torch(
        "the step leaves the noise out",
        [("self._noisy(found), strict=True)", "[one / len(found.norms) for one in found.sums], strict=True)")],
        {"imdb-embed/per-sample-gradients": "update"},
    ),
    in_torch(
        "a loop goes on with the norm of the sample before",
        [
            ('    "vmap": PerSampleStep.vectorised,\n', '    "vmap": PerSampleStep.looped,\n'),
            (
                "most / norm.clamp(min=most)))",
                "most / (norms[-1] if norms else norm).clamp(min=most)))",
            ),
        ],
        CLIPPED,
    ),
]

JAX = [
    in_jax(
        "gradients are clipped after their sum",
        [
            (JAXS_SUMS, JAXS_SUMS.replace("one / divisor", "one")),
            ("        return Found(losses.mean(), norms, sums)\n\n    def _scanned", f"{JAXS_LATE}\n    def _scanned"),
        ],
        CLIPPED,
    ),
    in_jax("no sample is clipped", [(JAXS_SUMS, JAXS_SUMS.replace("one / divisor", "one"))], CLIPPED),
    in_jax(
        "each array of a sample is clipped by its own norm",
        [
            (JAXS_SUMS, JAXS_SUMS.replace("one / divisor", "one * self._factor(_norm({0: one}))")),
        ],
        CLIPPED,
    ),
    in_jax(
        "samples are clipped by the mean of their norms",
        [
            (
                "divisor = jnp.maximum(norm / self._asked.max_norm, 1.0)",
                "divisor = 1.0 / self._factor(jax.lax.pmean(norm, SAMPLES))",
            )
        ],
        CLIPPED,
    ),
    in_jax(
        "what is summed is not divided",
        [("return found.loss, jax.tree.map(lambda one: one / count, sums)", "return found.loss, sums")],
        UPDATES,
    ),
    in_jax(
        "every sample has the gradient of the batch's mean",
        [
            (
                JAXS_SAMPLES,
                JAXS_SAMPLES + JAXS_MEAN,
            )
        ],
        NORMS,
    ),
    in_jax("there is no noise", [(JAXS_NOISE, "0.0")], NOISE),
    in_jax("the noise is twice what is asked for", [(JAXS_NOISE, f"2.0 * {JAXS_NOISE}")], NOISE),
    in_jax("each sample adds noise of its own", [(JAXS_NOISE, f"count**0.5 * {JAXS_NOISE}")], NOISE),
    in_jax("every array gets the same noise", [("jax.random.normal(each[name],", "jax.random.normal(adding,")], NOISE),
    in_jax(
        "a row of noise is drawn for all rows",
        [(JAXS_NOISE, JAXS_NOISE.replace("one.shape", "one.shape[-1:]"))],
        NOISE,
    ),
    in_jax(
        "every step draws the same noise",
        [("optimizer=optimizer, key=key)", "optimizer=optimizer)")],
        NOISE,
    ),
    in_jax(
        "a scan clips by a norm that is never taken",
        [
            ('ways = {"vmap": self._vectorised,', 'ways = {"vmap": self._scanned,'),
            (
                "        factor = self._factor(norm)\n        return jax.tree.map(lambda total",
                "        factor = self._factor(jnp.zeros_like(norm))\n        return jax.tree.map(lambda total",
            ),
        ],
        CLIPPED,
    ),
]

MUTANTS = [*TORCH, *JAX]
