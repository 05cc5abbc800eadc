"""bakeoff's steps on two devices against those that users write by hand, step by step in the same processes.

    python benchmarks/data_parallel.py [--workloads mnist-cnn cnn-cifar10] [--pairs torch:ddp jax:sharding]
                                       [--batch-size 64] [--processes 7] [--seconds 20] [--output STEM]

torch:ddp has two processes over gloo, as torchrun starts them: by hand DistributedDataParallel around the network, a
loss, backward and torch.optim. jax:sharding has two devices of a processor in one process: by hand a mesh, parameters
replicated over it, a batch sharded along its samples, and one jitted step with optax. The networks are those of
per_sample_by_hand.py, the optimiser on both sides is the workload's. The batch size is a device's.

Both sides live in the same processes and take single steps by turns, in mirrored order, each waited for; every process
takes the same turns. They give one ratio, by hand / ours: the median over their turns. The table has the centre over
fresh starts of all of them ("processes") with its 95 % interval (signed-rank): 1.00 is the goal, below 0.97 is a
defect.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import over_processes
from inside import model_of, options_of, run_inside
from per_sample import SIDES
from per_sample_by_hand import jax_network, torch_batch, torch_network
from zoo_steps import FEWEST_TURNS, MOST_TURNS, WARM_UP_TURNS, call_of

if TYPE_CHECKING:
    from collections.abc import Callable

WORLD = 2

THREADS = 1
"""Of each device: the machines that these run on have two cores."""


def by_torch(workload: str, images: Any, labels: Any) -> Callable[[], None]:
    """Give a step by DistributedDataParallel, in a process group that is there."""
    import torch
    from torch.nn.parallel import DistributedDataParallel

    torch.manual_seed(0)
    model = DistributedDataParallel(torch_network(workload))
    x, y = torch_batch(images, labels)
    optimizer = _torch_optimizer(model.parameters(), workload)

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def _torch_optimizer(parameters: Any, workload: str) -> Any:
    """Give the workload's optimiser as PyTorch has it."""
    import torch

    from bakeoff.spec.optimizer import SGD

    asked = _optimizer(workload)
    if isinstance(asked, SGD):
        return torch.optim.SGD(parameters, asked.learning_rate, momentum=asked.momentum)
    return torch.optim.Adam(parameters, asked.learning_rate)


def by_jax(workload: str, images: Any, labels: Any) -> Callable[[], None]:
    """Give a step by sharding over the devices of this process."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import optax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    from bakeoff.spec.optimizer import SGD

    asked = _optimizer(workload)
    optimizer = (
        optax.sgd(asked.learning_rate, momentum=asked.momentum or None)
        if isinstance(asked, SGD)
        else optax.adam(asked.learning_rate)
    )
    params, network = jax_network(workload)
    mesh = Mesh(np.array(jax.devices()[:WORLD]), ("data",))
    everywhere, split = NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("data"))
    x, y = jax.device_put(images, split), jax.device_put(labels, split)

    def loss(params: Any, x: Any, y: Any) -> Any:
        return optax.softmax_cross_entropy_with_integer_labels(network(params, x), y).mean()

    def update(params: Any, state: Any, x: Any, y: Any) -> Any:
        updates, state = optimizer.update(jax.grad(loss)(params, x, y), state, params)
        return optax.apply_updates(params, updates), state

    step_of = jax.jit(update, donate_argnums=(0, 1), out_shardings=(everywhere, everywhere))
    now = [jax.device_put(part, everywhere) for part in (params, optimizer.init(jax.tree.map(jnp.asarray, params)))]

    def step() -> None:
        now[:] = step_of(*now, x, y)
        jax.block_until_ready(now[0])

    return step


def _optimizer(workload: str) -> Any:
    """Give a workload's optimiser."""
    from bakeoff.workloads.load import load

    return load(workload).workload.optimizer


BY_HAND = {("torch", "ddp"): by_torch, ("jax", "sharding"): by_jax}
"""By framework and by the value of the option `sync` that it is held against."""

GROUPED = {"torch"}
"""Frameworks that have a process for each device."""


def calls_of(framework: str, sync: str, workload: str, count: int, place: tuple[int, list[int]]) -> dict[str, Any]:
    """Give a step of each side on the same batch of noise: a replica's own, or all devices' together."""
    import numpy as np

    import bakeoff.frameworks
    from bakeoff.spec.batch import labelled
    from bakeoff.spec.group import Group
    from bakeoff.trial.framework import import_engine

    rank, ports = place
    own = {"devices": str(WORLD), "sync": sync, "threads": str(THREADS)}
    options = options_of(framework) | own
    engine = import_engine(Path(bakeoff.frameworks.__file__).parent / framework).Engine()
    if framework in GROUPED:
        engine.join(Group(rank=rank, world=WORLD, ports=tuple(ports)))
    engine.configure(options)
    model = model_of(workload, SIDES[workload])
    random = np.random.default_rng(rank)
    samples = count if framework in GROUPED else WORLD * count
    images = random.standard_normal((samples, *model.size.input_shape), np.float32)
    labels = random.integers(0, model.size.classes, samples).astype(np.int32)
    step = engine.build(model, "train", options)
    ours = call_of(step, step.prepare(labelled(images, labels)))
    return {"ours": ours, "by hand": BY_HAND[framework, sync](workload, images, labels)}


def times(calls: dict[str, Callable[[], None]], turns: int) -> dict[str, list[float]]:
    """Take so many steps of each side by turns; give their seconds."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(turns):
        for name in list(calls)[:: 1 if turn % 2 else -1]:
            began = time.perf_counter()
            calls[name]()
            taken[name].append(time.perf_counter() - began)
    return taken


def measured(pair: str, workload: str, asked: argparse.Namespace, place: tuple[int, list[int]]) -> dict[str, Any]:
    """Run one replica, or all; the number of turns is a count that all of them know, from the first steps' times."""
    framework, sync = pair.split(":")
    calls = calls_of(framework, sync, workload, asked.batch_size, place)
    first = times(calls, WARM_UP_TURNS)
    turn_s = sum(min(values) for values in first.values())
    if framework in GROUPED:
        turn_s = _of_the_first(turn_s)
    turns = max(FEWEST_TURNS, min(MOST_TURNS, int(asked.seconds / turn_s)))
    return times(calls, turns)


def _of_the_first(seconds: float) -> float:
    """Give the first replica's number to all."""
    import torch

    known = torch.tensor([seconds], dtype=torch.float64)
    torch.distributed.broadcast(known, src=0)
    return float(known)


def inside(asked: argparse.Namespace) -> None:
    """Be the first replica, and start the others as this process was started."""
    pair, workload, rank, ports = asked.inside
    others = []
    if rank == "0" and pair.split(":")[0] in GROUPED:
        again = [sys.executable, *sys.argv]
        for other in range(1, WORLD):
            place = again.index("--inside") + 3
            others.append(subprocess.Popen([*again[:place], str(other), *again[place + 1 :]]))
    taken = measured(pair, workload, asked, (int(rank), [int(port) for port in ports.split(",")]))
    if rank == "0":
        asked.into.write_text(json.dumps(taken))
    for one in others:
        one.wait()
    sys.stdout.flush()
    os._exit(0)  # gloo's threads have nothing more to say to each other


def _free_ports() -> str:
    """Give a free port for each replica."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(WORLD)]
    ports = ",".join(str(one.getsockname()[1]) for one in sockets)
    for one in sockets:
        one.close()
    return ports


def main() -> None:
    """Measure every pair, print the table and write it."""
    pairs = [":".join(pair) for pair in BY_HAND]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", nargs="+", default=list(SIDES), choices=list(SIDES))
    parser.add_argument("--pairs", nargs="+", default=pairs, choices=pairs)
    parser.add_argument("--batch-size", type=int, default=64, help="of each device")
    parser.add_argument("--processes", type=over_processes.count, default=over_processes.PROCESSES)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each pair in a process, after its warm-up")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--inside", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside:
        inside(asked)
    from results import write

    common = ["--batch-size", str(asked.batch_size), "--seconds", str(asked.seconds)]

    def measure(pair: str, workload: str) -> Any:
        framework, ports = pair.partition(":")[0], _free_ports()
        return run_inside(framework, __file__, *common, "--inside", pair, workload, "0", ports)

    cases = [(pair, workload) for workload, pair in product(asked.workloads, asked.pairs)]
    found = over_processes.measured(cases, asked.processes, measure)
    rows = [over_processes.told(case, asked.batch_size, taken) for case, taken in found.items()]
    write(rows, __doc__ or "", asked.output)


if __name__ == "__main__":
    sys.exit(main())
