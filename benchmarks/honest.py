"""Whether honest contenders are certified: how much of what is allowed each uses, over workloads, batches and seeds.

    python benchmarks/honest.py FOLDER [--workloads ...] [--batches 1 8 64] [--in-turn] [--seeds 20] [--first-seed 0]
        [--size reduced] [--later 3] [--contenders torch jax tensorflow mlx torch:precision=bfloat16] [--judge-only]
        [--output benchmarks/results/honest]

Every seed takes every batch size; with --in-turn the first seed the first one, the second seed the second one, and so
on round: as many draws of data and parameters over more sizes in less time. The reference and every contender compute
all their evidence in one process each, which is kept in FOLDER, so that a second call goes on (after a change of the
code with another FOLDER); --judge-only computes nothing and judges what FOLDER holds. Compilers keep their programs
there, too: most seeds ask for one that is there. A number is the largest error of a check over what it allows, over all
of a contender's certificates in a workload (of losses that of the step with the largest error): above 1 it is refused.
A workload that has no such scenario has its first one. With --later 3 a trajectory is as short as that of a large
step (`spec.trial.certify_steps`).
"""

from __future__ import annotations

import argparse
import os
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
from results import write

import bakeoff
from bakeoff.certify.certificate import certify
from bakeoff.certify.checks import Exhibit
from bakeoff.race.prepare import prepared
from bakeoff.race.specs import Specs
from bakeoff.spec.evidence import Evidence
from bakeoff.spec.request import Request
from bakeoff.spec.trial import CACHE_FOLDER, certify_steps
from bakeoff.workloads.load import load, names

if TYPE_CHECKING:
    from bakeoff.spec.comparison import Comparison, ContenderPlan
    from bakeoff.spec.trial import Purpose, TrialSpec
    from bakeoff.spec.verdict import Certificate

CHILD = Path(__file__).parent / "evidence_child.py"
PLAIN = ("torch", "jax", "tensorflow", "mlx")


class Case(NamedTuple):
    """One comparison, and the folder of its evidence."""

    comparison: Comparison
    folder: Path
    inputs: Path
    later: int
    """Steps behind the first one of its trajectory."""

    def trial(self, plan: ContenderPlan, purpose: Purpose) -> tuple[Path, TrialSpec]:
        """Return the folder and what is asked of one trial."""
        spec = Specs(self.comparison, self.folder, self.inputs).trial(plan, purpose).spec
        shared = str(self.folder.resolve().parent / "compiled")
        own = str((self.folder / spec.name / CACHE_FOLDER).resolve())
        variables = {name: value.replace(own, shared) for name, value in spec.variables.items()}
        kept = {name: text.replace("{cache}", shared) for name, text in (plan.cache_variables or {}).items()}
        # From BEHIND_MACS on a race has the spread in float64 only where a program is off; here shares of it are shown.
        has_programs = any(one.program for one in self.comparison.contenders)
        drawn = {*spec.spreads, "float64"} if purpose == "reference" and has_programs else spec.spreads
        return self.folder / spec.name, msgspec.structs.replace(
            spec, learning_steps=0, certify_steps=self.later, variables=variables | kept, spreads=tuple(sorted(drawn))
        )


def case_of(root: Path, asked: argparse.Namespace, workload: str, batch: int, seed: int) -> Case:
    """Write the batches of one comparison, unless they are there."""
    of_steps = f"-later{asked.later}" if asked.later else ""  # evidence of other steps that is there is no part of it
    folder = root / f"{workload}-{asked.size}-{batch}-{seed}{of_steps}"
    request = Request(
        workload=workload,
        contenders=tuple(asked.contenders),
        size=asked.size,
        batch_size=batch,
        seed=seed,
        scenario=asked.scenario if asked.scenario in load(workload).workload.scenarios else None,
        threads=asked.threads,
        results=str(root),
    )
    with prepared(request) as (comparison, drawn):
        inputs = folder / "inputs"
        if not inputs.exists():
            folder.mkdir(parents=True, exist_ok=True)
            Path(drawn).rename(inputs)
            Path(drawn).mkdir()
    return Case(comparison, folder, inputs, asked.later or certify_steps(comparison.work))


def compute(cases: list[Case], root: Path) -> None:
    """Have each framework compute its trials of all cases, in one process for each set of variables."""
    jobs: dict[tuple[str, str], list[tuple[str, TrialSpec]]] = defaultdict(list)
    for case in cases:
        assert case.comparison.reference is not None
        wanted = [(case.comparison.reference, "reference")]
        for plan in case.comparison.contenders:
            asked = plan.in_float64()
            if asked is not None and not asked.runs_as(case.comparison.reference):
                wanted.append((asked, "program"))
            wanted.append((plan, "certify"))
        for plan, purpose in wanted:
            folder, spec = case.trial(plan, purpose)  # type: ignore[arg-type]
            key = plan.interpreter, str(sorted(spec.variables.items()))
            jobs[key].append((str(folder), spec))
    for number, ((interpreter, _), trials) in enumerate(jobs.items()):
        job = root / f"trials-{number}.json"
        job.write_bytes(msgspec.json.encode(trials))
        source = str(Path(bakeoff.__file__).parents[1])
        # In the environment it starts with: malloc reads its tunables before anything of Python runs.
        given = os.environ | trials[0][1].variables | {"PYTHONPATH": source}
        subprocess.run([interpreter, str(CHILD), str(job)], check=False, env=given)


def exhibit(case: Case, plan: ContenderPlan, purpose: Purpose) -> Exhibit | None:
    """Return one trial's evidence; None where it failed."""
    folder, _ = case.trial(plan, purpose)
    if not (folder / "evidence.json").exists():
        return None
    evidence = msgspec.json.decode((folder / "evidence.json").read_bytes(), type=Evidence)
    with np.load(folder / "evidence.npz", allow_pickle=False) as arrays:
        found = dict(arrays)
    return Exhibit(
        label=plan.contender.label, evidence=evidence, arrays=found, precision=plan.contender.options["precision"]
    )


def certificate(case: Case, plan: ContenderPlan) -> Certificate | None:
    """Return a contender's certificate; None where evidence is missing."""
    comparison, asked = case.comparison, plan.in_float64()
    assert comparison.reference is not None
    reference, mine = exhibit(case, comparison.reference, "reference"), exhibit(case, plan, "certify")
    program = None
    if asked is not None:
        program = reference if asked.runs_as(comparison.reference) else exhibit(case, asked, "program")
    if reference is None or mine is None or (program is None and asked is not None):
        return None
    size = comparison.workload.sizes[comparison.size]
    return certify(
        mine,
        reference,
        workload=comparison.workload,
        size=msgspec.structs.replace(size, batch_size=comparison.batch_size),
        scenario=comparison.scenario,
        steps=1 + case.later,
        program=program,
        alone=plan.no_program,
    )


def rows(cases: list[Case]) -> list[dict[str, Any]]:
    """Return a row for each workload and contender, with the worst of each check."""
    worst: dict[tuple[str, str], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for case in cases:
        for plan in case.comparison.contenders:
            key = case.comparison.workload.name, plan.contender.label
            found = certificate(case, plan)
            counts[key][0] += 1
            counts[key][1] += found is not None and not found.passed
            counts[key][2] += found is None
            if found is not None and not found.passed:
                print(case.folder.name, plan.contender.label, found.reason)
            for check in found.checks if found else ():
                if check.error is not None and check.allowed:
                    stage = worst[key]
                    name = f"{check.stage} {check.name}"
                    stage[name] = max(stage[name], check.error / check.allowed)
    is_per_sample = any(case.comparison.scenario == "per-sample-gradients" for case in cases)
    checks = ("outputs", "loss", "gradients", "trajectory", "update", *(["norms"] if is_per_sample else []))
    shown = [(stage, name) for stage in ("program", "timed") for name in checks]
    return [
        {
            "workload": workload,
            "contender": label,
            "certificates": counts[workload, label][0],
            "refused": counts[workload, label][1],
            "failed": counts[workload, label][2],
        }
        | {
            f"{stage}: {name}": f"{used[f'{stage} {name}']:.2g}"
            for stage, name in shown
            if (stage, name) != ("timed", "trajectory")
        }
        for (workload, label), used in sorted((key, worst[key]) for key in counts)
    ]


def main() -> None:
    """Compute what is missing, judge it, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--workloads", nargs="+", default=names())
    parser.add_argument("--contenders", nargs="+", default=PLAIN)
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 8, 64])
    parser.add_argument("--in-turn", action="store_true", help="one batch size a seed")
    parser.add_argument("--seeds", type=int, default=20, help="how many")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--size", default="reduced")
    parser.add_argument("--scenario", default="train")
    parser.add_argument("--later", type=int, help="steps behind the first one, in place of what the model has")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--judge-only", action="store_true", help="compute nothing: judge what FOLDER holds")
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    last = asked.first_seed + asked.seeds - 1
    cases = [
        case_of(asked.folder, asked, workload, batch, seed)
        for workload in asked.workloads
        for seed in range(asked.first_seed, last + 1)
        for batch in ([asked.batches[seed % len(asked.batches)]] if asked.in_turn else asked.batches)
    ]
    if not asked.judge_only:
        compute(cases, asked.folder)
    found = rows(cases)
    batches = ", ".join(map(str, asked.batches)) + (" in turn" if asked.in_turn else "")
    steps = f", trajectories of {1 + asked.later} steps" if asked.later else ""
    every, refused, failed = (sum(row[key] for row in found) for key in ("certificates", "refused", "failed"))
    about = (
        "Certificates of honest contenders: the share of what is allowed that the worst of each check uses\n\n"
        f"{asked.scenario}, {asked.size} size, batches {batches}{steps}, seeds {asked.first_seed} to {last}: "
        f"{every} certificates, {refused} refused, {failed} not made."
    )
    write(found, about, asked.output)


if __name__ == "__main__":
    main()
