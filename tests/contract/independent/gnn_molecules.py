"""AlgoPerf's graph network on molecules, one behind the other without padding, each by dense matrices of its bonds."""

from __future__ import annotations

import torch

from bakeoff.spec.batch import ArraySpec, Law
from independent.implementation import Implementation

OPTIMIZER = {"type": "adam", "learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}


def dense(inputs, features):
    """Return what updates bonds, atoms and molecules; dropout is left to who calls it."""
    return torch.nn.Sequential(
        torch.nn.Linear(inputs, features), torch.nn.LayerNorm(features, eps=1e-6), torch.nn.ReLU()
    )


class Step(torch.nn.Module):
    """One update of all three."""

    def __init__(self, features, whole):
        """Make the layers."""
        super().__init__()
        self.bond = dense(3 * features + whole, features)
        self.atom = dense(3 * features + whole, features)
        self.molecule = dense(2 * features + whole, features)


class Network(torch.nn.Module):
    """All steps, over one molecule at a time."""

    def __init__(self, features, labels, steps):
        """Make the layers."""
        super().__init__()
        self.features, self.labels = features, labels
        self.atoms, self.bonds = torch.nn.Linear(9, features), torch.nn.Linear(3, features)
        self.steps = torch.nn.ModuleList([Step(features, features if place else labels) for place in range(steps)])
        self.decoder = torch.nn.Linear(features, labels)

    def forward(self, inputs):
        """Return the logits of each molecule."""
        kept = [self.kept(*inputs["atoms"].shape[:2], inputs["bonds"].shape[1]) for _ in self.steps]
        molecules = zip(*(inputs[name].unbind() for name in NAMES), strict=True)
        return torch.stack([self.of_one(place, kept, one) for place, one in enumerate(molecules)])

    def kept(self, batch, atoms, bonds):
        """Draw what dropout keeps in one step, in the order and shapes that the batch with its padding has."""
        of_bonds, of_atoms, of_molecules = (
            torch.nn.functional.dropout(torch.ones(rows, self.features), 0.1, self.training)
            for rows in (batch * bonds, batch * atoms + 1, batch + 1)
        )
        return of_bonds.view(batch, bonds, -1), of_atoms[:-1].view(batch, atoms, -1), of_molecules[:-1, None]

    def of_one(self, place, kept, molecule):
        """Return the logits of one molecule."""
        atom_count, bond_count, atoms, bonds, senders, receivers = molecule
        sends, receives = (
            torch.nn.functional.one_hot(ends[:bond_count], int(atom_count)).to(atoms.dtype)
            for ends in (senders, receivers)
        )
        x, e = self.atoms(atoms[:atom_count]), self.bonds(bonds[:bond_count])
        whole = torch.zeros(1, self.labels, dtype=x.dtype)
        for step, of_step in zip(self.steps, kept, strict=True):
            of_bonds, of_atoms, of_whole = (one[place] for one in of_step)
            e = torch.cat([e, sends @ x, receives @ x, whole.expand(len(e), -1)], 1)
            e = step.bond(e) * of_bonds[:bond_count]
            x = torch.cat([x, sends.T @ e, receives.T @ e, whole.expand(len(x), -1)], 1)
            x = step.atom(x) * of_atoms[:atom_count]
            whole = step.molecule(torch.cat([x.sum(0)[None], e.sum(0)[None], whole], 1)) * of_whole
        return self.decoder(whole)[0]


NAMES = ("atom_count", "bond_count", "atoms", "bonds", "senders", "receivers")


def layers(network):
    """Name the workload's layers."""
    named = {"atoms": "atoms", "bonds": "bonds", "decoder": "decoder"}
    for place in range(len(network.steps)):
        for part in ("bond", "atom", "molecule"):
            named[f"steps.{place}.{part}.0"] = f"steps.{place}.{part}.linear"
            named[f"steps.{place}.{part}.1"] = f"steps.{place}.{part}.norm"
    return named


def loss(outputs, targets):
    """Return the mean of log(1 + exp(x)) - t x over the labels that are known."""
    known = targets["known"]
    logits, labels = outputs[known], targets["labels"][known]
    return (torch.logaddexp(logits, torch.zeros_like(logits)) - labels * logits).mean()


def molecules(atoms, bonds):
    """Return the declared arrays."""
    ends = ArraySpec(shape=(bonds,), dtype="int32", high=atoms, within="atom_count", length="bond_count")
    return {
        "atom_count": ArraySpec(dtype="int32", low=2, high=atoms + 1, law=Law(mean=0.9 * atoms, deviation=0.1 * atoms)),
        "bond_count": ArraySpec(dtype="int32", low=2, high=bonds + 1, law=Law(mean=0.9 * bonds, deviation=0.1 * bonds)),
        "atoms": ArraySpec(shape=(atoms, 9), length="atom_count"),
        "bonds": ArraySpec(shape=(bonds, 3), length="bond_count"),
        "senders": ends,
        "receivers": ends,
    }


def known(labels):
    """Return the declared targets."""
    return {
        "labels": ArraySpec(shape=(labels,), dtype="int32", high=2),
        "known": ArraySpec(shape=(labels,), dtype="bool"),
    }


def computed(atoms, bonds):
    """Return smaller molecules, some of which leave room."""
    counts = {
        "atom_count": ArraySpec(dtype="int32", low=2, high=atoms + 1),
        "bond_count": ArraySpec(dtype="int32", low=2, high=bonds + 1),
    }
    return molecules(atoms, bonds) | counts


SIZES = {
    "full": Implementation(
        batch_size=512,
        inputs=molecules(26, 56),
        targets=known(128),
        parameters=3_554_176,
        network=lambda: Network(256, 128, 5),
        computed=computed(10, 20),
        computed_batch=3,
    ),
}
SMALL = Implementation(
    inputs=molecules(26, 56),
    targets=known(128),
    network=lambda: Network(8, 6, 2),
    computed=computed(6, 10) | known(6),
    computed_batch=3,
    config={"features": 8, "labels": 6, "steps": 2},
)
