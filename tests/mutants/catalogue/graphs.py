"""Faults in products with sparse matrices, and in the networks on graphs."""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_torch, in_jax, in_tensorflow, in_mlx, in_jittor = (
    partial(Mutant, framework, "vocabulary", "graphs.py")
    for framework in ("torch", "jax", "tensorflow", "mlx", "jittor")
)

OUTPUTS = {"case/product with a sparse matrix": "outputs"}


def _in_workload(name: str, workload: str, old: str, new: str) -> Mutant:
    """Return the mutant of a workload's file, which its independent implementation finds."""
    file = f"workloads/{workload.replace('-', '_')}.py"
    return Mutant("", "workload", file, name, [(old, new)], {f"independent/{workload}": "computed"})


MUTANTS = [
    in_torch("elements count without their values", [("values[:, None] * F.emb", "F.emb")], OUTPUTS),
    in_torch(
        "a product with a sparse matrix has twice its gradient",
        [("F.embedding(columns, x)", "(2 * F.embedding(columns, x) - F.embedding(columns, x).detach())")],
        {"case/product with a sparse matrix": "loss and gradients"},
    ),
    in_jax("rows are taken for columns", [("jnp.take(x, columns, axis=0)", "jnp.take(x, rows, axis=0)")], OUTPUTS),
    in_tensorflow("elements count without their values", [("values[:, tf.newaxis] * ", "")], OUTPUTS),
    in_mlx("of a row's elements the last one counts", [(".at[rows].add(", ".at[rows].maximum(")], OUTPUTS),
    in_jittor(
        "of a row's elements the largest counts", [('reindex_reduce("add"', 'reindex_reduce("maximum"')], OUTPUTS
    ),
    _in_workload(
        "GCN with dropout on the first inputs alone", "gcn-cora", "self.second(self.drop(h))", "self.second(h)"
    ),
    _in_workload(
        "GCN whose bias is spread over the neighbours",
        "gcn-arxiv",
        "nn.sparse_matmul(self.linear(h), *matrix) + self.bias",
        "nn.sparse_matmul(self.linear(h) + self.bias, *matrix)",
    ),
    _in_workload(
        "molecules whose padding's atoms are counted",
        "gnn-molecules",
        'is_bond, is_atom = real(x["bond_count"], bonds), real(x["atom_count"], room)',
        'is_bond, is_atom = real(x["bond_count"], bonds), real(x["atom_count"] * 0 + room, room)',
    ),
    _in_workload(
        "molecules whose unknown labels are zeros",
        "gnn-molecules",
        ', weights=targets["known"])',
        ")",
    ),
]
