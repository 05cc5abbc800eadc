"""The four use cases of the project JAX-vs-PyTorch-on-GPU, and which workload a benchmark of its pipeline is here.

`bakeoff use-case`, `bakeoff slurm --benchmark B --use-case N` and the studies of the four use cases read it here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from bakeoff.spec.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.spec.scenario import Scenario


Named = TypeVar("Named")


class UseCase(NamedTuple):
    """One of the four."""

    meaning: str
    scenario: Scenario
    several: bool
    """On several devices."""

    def workload_of(self, benchmark: Benchmark) -> str:
        """Return the workload of a benchmark in this use case."""
        return benchmark.workload if self.scenario == "train" else benchmark.per_sample

    def batch_size_of(self, benchmark: Benchmark) -> str | None:
        """Return the batch size of a benchmark in this use case; None: the workload's own."""
        return None if self.scenario == "train" else benchmark.batch_size


class Benchmark(NamedTuple):
    """What a benchmark's name stands for."""

    workload: str
    per_sample: str
    """The workload of use cases 3 and 4."""
    batch_size: str | None = None
    """Of use cases 3 and 4, where it is not the workload's own."""


USE_CASES = {
    "1": UseCase("training on one device", "train", several=False),
    "2": UseCase("training on several devices", "train", several=True),
    "3": UseCase("per-sample gradients on one device", "per-sample-gradients", several=False),
    "4": UseCase("per-sample gradients on several devices", "per-sample-gradients", several=True),
}

BENCHMARKS = {
    "mnist": Benchmark("mnist-cnn", "mnist-cnn"),
    "cifar10": Benchmark("cnn-cifar10", "cnn-cifar10"),
    "nlp": Benchmark("text-transformer", "text-transformer"),
    # A single graph is one sample, and has one gradient alone; 512 molecules' would take 7.3 GB.
    "gnn": Benchmark("gcn-cora", "gnn-molecules", batch_size="64"),
}
"""The pipeline names the first two, and leaves open what stands behind the others."""


def use_case_of(number: str) -> UseCase:
    """Return the use case of a number; raise UnknownNameError, which lists what is valid."""
    return _known("use case", number, USE_CASES)


def benchmark_of(name: str) -> Benchmark:
    """Return the benchmark of a name; raise UnknownNameError, which lists what is valid."""
    return _known("benchmark", name, BENCHMARKS)


def _known(kind: str, name: str, table: Mapping[str, Named]) -> Named:
    """Return what stands in a table; raise UnknownNameError, which lists what is valid."""
    if name not in table:
        raise UnknownNameError(kind, name, table)
    return table[name]
