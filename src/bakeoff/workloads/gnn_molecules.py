"""Graph network on molecules, as AlgoPerf's ogbg: five steps of messages of 256 features, 128 labels each molecule.

Atoms of 9 numbers and bonds of 3, each by a dense layer to 256 features, and 128 zeros for a whole molecule. Then five
times: each bond, in both directions, from itself, its sender, its receiver and the molecule; each atom from itself, the
sums of what it sends and what it receives, and the molecule; the molecule from the sums of its atoms and of its bonds,
and itself: each by a dense layer, LayerNorm of epsilon 1e-6, ReLU and dropout of 0.1. A dense layer gives the logits.
The loss is the binary cross-entropy over the labels that are known, as the mean over these; Adam at 0.001.

Source: AlgoPerf (mlcommons/algorithmic-efficiency), algoperf/workloads/ogbg: models.py, input_pipeline.py; after
Battaglia et al., arXiv 1806.01261. It leaves the optimiser open; the rate is that of flax's examples/ogbg_molpcba.

A sample is a molecule with room for 26 atoms and 56 directed bonds, the averages of ogbg-molpcba, so that a batch has
what AlgoPerf pads it to: of B molecules 26 B + 1 atoms, 56 B bonds and B + 1 molecules, of which the last atom and the
last molecule are padding's. AlgoPerf puts molecules one behind the other and the padding at the end; here each has its
own room, in which padding is beside it, and a larger molecule of real data is left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bakeoff.spec.batch import ArraySpec, Law
from bakeoff.spec.optimizer import Adam
from bakeoff.spec.workload import Size, Workload


def _inputs(atoms: int, bonds: int) -> dict[str, ArraySpec]:
    """Return a molecule: how many atoms and bonds it has, and these; bonds go from a sender to a receiver.

    How full the room is drawn is ours: about nine tenths, which AlgoPerf's packing of real molecules fills.
    """
    return {
        "atom_count": ArraySpec(dtype="int32", low=2, high=atoms + 1, law=Law(mean=0.9 * atoms, deviation=0.1 * atoms)),
        "bond_count": ArraySpec(dtype="int32", low=2, high=bonds + 1, law=Law(mean=0.9 * bonds, deviation=0.1 * bonds)),
        "atoms": ArraySpec(shape=(atoms, 9), length="atom_count"),
        "bonds": ArraySpec(shape=(bonds, 3), length="bond_count"),
        "senders": ArraySpec(shape=(bonds,), dtype="int32", high=atoms, within="atom_count", length="bond_count"),
        "receivers": ArraySpec(shape=(bonds,), dtype="int32", high=atoms, within="atom_count", length="bond_count"),
    }


def _targets(labels: int) -> dict[str, ArraySpec]:
    """Return the labels, 0 or 1, and which are known: the others are NaN in the data set."""
    return {
        "labels": ArraySpec(shape=(labels,), dtype="int32", high=2),
        "known": ArraySpec(shape=(labels,), dtype="bool"),
    }


WORKLOAD = Workload(
    name="gnn-molecules",
    summary="graph network on molecules, AlgoPerf's ogbg",
    source="AlgoPerf, algoperf/workloads/ogbg (models.py, input_pipeline.py); Battaglia et al., arXiv 1806.01261",
    sizes={
        "full": Size(
            batch_size=512,
            inputs=_inputs(26, 56),
            targets=_targets(128),
            parameters=3_554_176,
            macs=108_141_312,
            config={"features": 256, "labels": 128, "steps": 5, "dropout": 0.1},
        ),
        "reduced": Size(
            batch_size=8,
            inputs=_inputs(8, 16),
            targets=_targets(16),
            parameters=22_544,
            macs=208_416,
            config={"features": 32, "labels": 16, "steps": 2, "dropout": 0.1},
        ),
    },
    optimizer=Adam(learning_rate=1e-3),
    scenarios=("train", "infer", "per-sample-gradients"),
    data=("synthetic", "ogb"),
)

_EPSILON = 1e-6


def build(nn: Any, size: Size) -> Any:
    """Return the model: molecules to logits (batch, labels)."""
    config: Any = size.config
    features, labels = config["features"], config["labels"]
    step = _step(nn, features, config["dropout"])

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.atoms, self.bonds = nn.Linear(9, features), nn.Linear(3, features)
            self.zeros = nn.constant(np.zeros((1, labels)))
            self.steps = nn.ModuleList([step(features if place else labels) for place in range(config["steps"])])
            self.decoder = nn.Linear(features, labels)

        def forward(self, x: Any) -> Any:
            batch, room, numbers = x["atoms"].shape
            atoms = nn.pad(nn.reshape(x["atoms"], (batch * room, numbers)), ((0, 1), (0, 0)))
            bonds = nn.reshape(x["bonds"], (batch * x["bonds"].shape[1], x["bonds"].shape[2]))
            ends = _ends(nn, x)
            atoms, bonds = self.atoms(atoms), self.bonds(bonds)
            wholes = nn.broadcast_to(self.zeros, (batch + 1, labels))
            for one in self.steps:
                atoms, bonds, wholes = one(atoms, bonds, wholes, ends)
            return self.decoder(wholes)[:batch]

    return Network()


def _ends(nn: Any, x: Any) -> tuple[Any, Any, Any, Any]:
    """Return each bond's sender and receiver among all atoms of a batch, its molecule, and each atom's molecule.

    Padding is of the last atom and of the last molecule.
    """
    batch, room, _ = x["atoms"].shape
    bonds = x["bonds"].shape[1]
    own = nn.reshape(nn.arange(batch), (batch, 1))

    def real(count: Any, most: int) -> Any:
        return nn.less(nn.reshape(nn.arange(most), (1, most)), nn.reshape(count, (batch, 1)))

    def among(is_real: Any, places: Any, padding: int) -> Any:
        return nn.reshape(nn.where(is_real, places, padding), (-1,))

    is_bond, is_atom = real(x["bond_count"], bonds), real(x["atom_count"], room)
    sender, receiver = (among(is_bond, x[name] + own * room, batch * room) for name in ("senders", "receivers"))
    of_bonds = among(is_bond, own + 0 * x["senders"], batch)
    of_atoms = among(is_atom, own + 0 * nn.reshape(nn.arange(room), (1, room)), batch)
    return sender, receiver, of_bonds, nn.concat([of_atoms, nn.arange(batch + 1)[batch:]], 0)


def _step(nn: Any, features: int, dropout: float) -> Any:
    """Return the class of one step of messages."""

    class Dense(nn.Module):
        """A dense layer with LayerNorm, ReLU and dropout, of some arrays side by side."""

        def __init__(self, inputs: int) -> None:
            super().__init__()
            self.linear, self.norm = nn.Linear(inputs, features), nn.LayerNorm(features, epsilon=_EPSILON)
            self.drop = nn.Dropout(dropout)

        def forward(self, *arrays: Any) -> Any:
            return self.drop(nn.relu(self.norm(self.linear(nn.concat(list(arrays), 1)))))

    class Step(nn.Module):
        """Bonds, then atoms, then molecules."""

        def __init__(self, whole: int) -> None:
            super().__init__()
            self.bond, self.atom = (Dense(3 * features + whole) for _ in range(2))
            self.molecule = Dense(2 * features + whole)

        def forward(self, atoms: Any, bonds: Any, wholes: Any, ends: Any) -> tuple[Any, Any, Any]:
            sender, receiver, of_bonds, of_atoms = ends
            sent, received = nn.take(atoms, sender), nn.take(atoms, receiver)
            bonds = self.bond(bonds, sent, received, nn.take(wholes, of_bonds))
            count, molecules = atoms.shape[0], wholes.shape[0]
            sums = (nn.segment_sum(bonds, end, count) for end in (sender, receiver))
            atoms = self.atom(atoms, *sums, nn.take(wholes, of_atoms))
            of_all = (nn.segment_sum(atoms, of_atoms, molecules), nn.segment_sum(bonds, of_bonds, molecules))
            return atoms, bonds, self.molecule(*of_all, wholes)

    return Step


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Return the mean binary cross-entropy over the labels that are known."""
    return nn.binary_cross_entropy(outputs, nn.to_float(targets["labels"]), weights=targets["known"])
