"""Faults in how several devices agree: the certificate, and replicas held against each other, catch them."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_torch = partial(Mutant, "torch", "engine", "replicas.py")

in_jax = partial(Mutant, "jax", "engine", "precision.py")
in_tensorflow = partial(Mutant, "tensorflow", "engine", "replicas.py")
in_samples = partial(Mutant, "torch", "engine", "per_sample.py")
in_mlx = partial(Mutant, "mlx", "engine", "replicas.py")

APART = "gradients or replicas"
"""Whichever is held first: gradients that nobody reduced are one replica's, and replicas that took them differ."""

WRAPPED = "        self._wrapped = DistributedDataParallel(network, device_ids=ids)\n"

SUMMED = """\
        def summed(_, bucket):
            reduced = torch.distributed.all_reduce(bucket.buffer(), async_op=True).get_future()
            return reduced.then(lambda done: done.value()[0])

        self._wrapped.register_comm_hook(None, summed)
"""

OWN_WEIGHTS = """\
        [parameter.data.mul_(1.0 + self._group.rank) for parameter in network.parameters()]
        self._wrapped = DistributedDataParallel(network, device_ids=ids, init_sync=False)
"""

MUTANTS = [
    in_torch(
        "gradients are not averaged over the replicas",
        [("        return self._wrapped\n", "        return network\n")],
        {"group": "replicas"},
    ),
    in_torch("gradients are summed over the replicas", [(WRAPPED, WRAPPED + SUMMED)], {"group": "gradients"}),
    in_torch("a replica begins with weights of its own", [(WRAPPED, OWN_WEIGHTS)], {"group": "replicas"}),
    in_torch(
        "clipped sums of replicas are averaged",
        [
            (
                "part.view_as(one) for part, one in zip(parts",
                "part.view_as(one) / self._group.world for part, one in zip(parts",
            )
        ],
        {"group of samples": "gradients"},
    ),
    in_torch(
        "clipped sums of replicas are not added",
        [("        torch.distributed.all_reduce(flat)\n", "")],
        {"group of samples": APART},
    ),
    in_samples(
        "every replica adds noise",
        [("if not (self._asked.is_noisy and self._switches.replicas.is_first):", "if not self._asked.is_noisy:")],
        {"group of samples": "noise"},
    ),
    in_jax(
        "gradients are not averaged over the mesh",
        [("gradients if axis is None else jax.lax.pmean(gradients, axis)", "gradients")],
        {"group": APART},
    ),
    in_jax(
        "gradients are summed over the mesh",
        [("jax.lax.pmean(gradients, axis)", "jax.lax.psum(gradients, axis)")],
        {"group": "gradients"},
    ),
    Mutant(
        "jax",
        "engine",
        "per_sample.py",
        "clipped sums of devices are not added",
        [("jax.lax.psum(found.sums, AXIS)", "found.sums")],
        {"group of samples": APART},
    ),
    in_tensorflow(
        "gradients of replicas are not reduced",
        [("        return reduced\n", "        return gradients\n")],
        {"group": APART},
    ),
    in_tensorflow(
        "gradients of replicas are summed",
        [("tf.distribute.ReduceOp.MEAN, gradients", "tf.distribute.ReduceOp.SUM, gradients")],
        {"group": "gradients"},
    ),
    Mutant(
        "tensorflow",
        "engine",
        "nn.py",
        "batch statistics of all replicas are those of each",
        [("synchronized=self.synchronized", "synchronized=False")],
        {"group of statistics": "gradients"},
    ),
    in_mlx(
        "gradients are not averaged over the ring",
        [("mlx.nn.average_gradients(gradients, self._ring)", "gradients")],
        {"group": APART},
    ),
    in_mlx(
        "gradients are summed over the ring",
        [
            (
                "mlx.nn.average_gradients(gradients, self._ring)",
                "mlx.utils.tree_map(lambda one: mx.distributed.all_sum(one, group=self._ring), gradients)",
            )
        ],
        {"group": "gradients"},
    ),
    Mutant(
        "",
        "feed",
        "trial/inputs.py",
        "a replica takes another one's samples",
        [("    return slice(group.rank * each, (group.rank + 1) * each)\n", "    return slice(0, each)\n")],
        {"unit/tests/trial/test_shards.py": "test_replicas_take_the_rows_of_the_joined_batch"},
    ),
    Mutant(
        "",
        "feed",
        "trial/inputs.py",
        "the batches of several devices overlap",
        [("        first = index % self.count * self._joined\n", "        first = index % self.count\n")],
        {"unit/tests/trial/test_shards.py": "test_every_batch_is_taken_once"},
    ),
]
