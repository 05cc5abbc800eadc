"""How each check is made: it runs what it needs in its folder, and has judge/acceptance.py conclude."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.acceptance.setting import TF32_CAPABILITY, with_options
from bakeoff.environments.declared import framework
from bakeoff.environments.probe import probe
from bakeoff.environments.usable import why_not
from bakeoff.judge import acceptance
from bakeoff.judge.comparison import judge_comparison
from bakeoff.judge.counters import flagged_share
from bakeoff.judge.ping_pong import two_ways
from bakeoff.measure import noise
from bakeoff.measure.contention import FOREIGN_LIMIT
from bakeoff.measure.gpus import uuid_in, variables_for
from bakeoff.race import conductor
from bakeoff.race.bare import against_bare, has_bare_loop
from bakeoff.race.ping_pong import both_ways
from bakeoff.race.prepare import checked
from bakeoff.race.workers.worker import WorkerLostError
from bakeoff.spec.acceptance import Finding
from bakeoff.spec.contender import parse_contenders
from bakeoff.store.files import write_json
from bakeoff.store.results import comparisons

if TYPE_CHECKING:
    from bakeoff.acceptance.setting import Setting
    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.verdict import Certificate

SHORTEST = "mlp-mnist"
"""The workload with the shortest steps, in which whatever bakeoff adds would weigh most."""

WITH_CONVOLUTIONS = "cnn-cifar10"
"""The smallest workload with products and convolutions, whose TF32 has a switch each."""

SEEDS, QUICK_SEEDS = 5, 2
ROUNDS, QUICK_ROUNDS = 5, 3
"""Of ping-pong and bare loops: three are the fewest that give an interval."""

SMALL_BATCH = 8
"""Of the large workloads' certificates: their reference computes in float64 on the processor."""
SMALL_BATCHED = frozenset({"resnet50", "vit-b16"})

RACES = 2
"""Against itself: one race in twenty has a winner by chance, two in a row one in four hundred."""

BATCH_LIMIT_BYTES = 1 << 30
"""Of the search for the largest batch on a processor, whose memory belongs to others, too."""

LEAST_PEAKS_S = 120.0
"""Of the race that goes on for the machine's peaks: late steps and self-tests come before them."""

REDUCED = ("tf32", "bfloat16", "float16")
"""What may be planted in the place of float32, the most like it first."""

CERTIFICATES_FILE = "certificates.json"


def devices(setting: Setting) -> Finding:
    """Have every contender's environment import its framework as a worker on the device, and hear why it cannot."""
    _, plans, _ = checked(setting.request(SHORTEST))
    variables = variables_for(uuid_in(setting.machine)) if setting.device == "cuda" else None
    answers, reasons = {}, dict(setting.excluded)
    for plan in plans:
        one, info = plan.contender, framework(plan.contender.framework).info
        answer = probe(plan.interpreter, Path(plan.framework_path), device=setting.device, variables=variables)
        answers[one.label] = answer
        if why := why_not(info, answer, one.options, setting.machine, one.environment):
            reasons[one.label] = why
    return acceptance.devices(answers, reasons)


def timers(setting: Setting) -> Finding:
    """Test every timer."""
    with setting.launching.watching() as observe:
        verdicts = conductor.check_timers(setting.request(SHORTEST), observe, launch=setting.launching.launch)
    return acceptance.timers(verdicts, labels_of(setting))


def labels_of(setting: Setting) -> list[str]:
    """Return the contenders' names in reports."""
    return [one.label for one in parse_contenders(setting.contenders)]


def certificates(setting: Setting, workload: str) -> Finding:
    """Certify all contenders at several seeds, as many as begin in time."""
    began_s = time.monotonic()
    found: dict[int, list[Certificate]] = {}
    seeds = QUICK_SEEDS if setting.quick else SEEDS
    small = {"batch_size": SMALL_BATCH} if workload in SMALL_BATCHED and setting.size == "full" else {}
    for seed in range(setting.seed, setting.seed + seeds):
        if found and time.monotonic() - began_s > setting.most_s:
            break
        request = setting.request(workload, seed=seed, **small)
        with setting.launching.watching() as observe:
            found[seed] = conductor.verify(request, observe, launch=setting.launching.launch)
        _keep(setting, found)
    return acceptance.certificates(found, seeds)


def _keep(setting: Setting, found: dict[int, list[Certificate]]) -> None:
    """Write certificates beside the evidence, which may be too large to be sent on."""
    told = [{"seed": seed, "certificates": some} for seed, some in found.items()]
    write_json(setting.folder / CERTIFICATES_FILE, told)


def planted(setting: Setting, contender: str) -> str:
    """Return the precision that is planted in the place of float32; empty where the framework has none here."""
    usable = [one for one in REDUCED if one != "tf32" or setting.device != "cuda" or setting.has_tf32]
    return next((one for one in usable if setting.has(contender, precision=one)), "")


def injected(setting: Setting, contender: str) -> Finding:
    """Certify a contender that computes in another precision than it is asked for."""
    precision = planted(setting, contender)
    if not precision:
        return Finding("not applicable", "it has no precision with fewer digits on this device")
    request = setting.request(WITH_CONVOLUTIONS, contender, inject={"precision": precision})
    if setting.quick:
        request = msgspec.structs.replace(request, workload=SHORTEST)
    with setting.launching.watching() as observe:
        (certificate,) = conductor.verify(request, observe, launch=setting.launching.launch)
    _keep(setting, {setting.seed: [certificate]})
    return acceptance.injected(certificate, "float32", precision)


def _raced(setting: Setting, workload: str, *contenders: str, **asked: Any) -> Outcome:
    """Race contenders, and observe it; `asked` are fields of Request."""
    request = setting.request(workload, *contenders, **asked)
    launching = setting.launching
    with launching.watching() as observe:
        return conductor.run(request, observe, launch=launching.launch, probe_s=launching.probe_s)


def itself(setting: Setting) -> Finding:
    """Race the first contender against itself, and where it has a winner once more."""
    races: list[Outcome] = []
    first = setting.contenders[0]
    while len(races) < RACES:
        outcome = _raced(setting, SHORTEST, first, first, budget_s=setting.most_s / RACES, self_test=False)
        races.append(outcome)
        if not (outcome.verdicts and outcome.verdicts[0].verdict in ("faster", "slower")):
            break
    return acceptance.itself(races)


def tf32(setting: Setting, contender: str) -> Finding:
    """Race float32 against TF32."""
    if not setting.has_tf32:
        return Finding(
            "not applicable", f"TF32 is a mode of NVIDIA's GPUs from compute capability {TF32_CAPABILITY} on"
        )
    if not setting.has(contender, precision="tf32"):
        return Finding("not applicable", "the framework has no TF32 on this device")
    workload = SHORTEST if setting.quick else "vgg16"
    sides = with_options(contender, precision="float32"), with_options(contender, precision="tf32")
    return acceptance.tf32(_raced(setting, workload, *sides, budget_s=setting.most_s, self_test=False))


def race(setting: Setting) -> Finding:
    """Race all contenders, with the machine's peaks behind the rounds."""
    return acceptance.race(_raced(setting, _race_workload(setting), budget_s=setting.most_s, self_test=True))


def _race_workload(setting: Setting) -> str:
    """Return what all contenders race on."""
    return SHORTEST if setting.quick else "resnet50"


RACE = "race"
"""The key of the check whose records tell the rates of work."""


def light(setting: Setting) -> Finding:
    """Hold the race's steps against the machine's peaks, which are measured now where the race had no time left."""
    folder = setting.whole / RACE
    found = comparisons(folder) if folder.is_dir() else []
    if not found:
        return Finding("inconclusive", "there was no race whose steps could be held against the machine's peaks")
    outcome = judge_comparison(found[-1])
    if outcome.rounds and any(one.status == "ranked" and one.light is None for one in outcome.contenders):
        goes_on = {"results": str(folder), "resume": True, "max_rounds": outcome.rounds}
        budget_s = max(setting.most_s, LEAST_PEAKS_S)
        outcome = _raced(setting, _race_workload(setting), budget_s=budget_s, self_test=True, **goes_on)
    return acceptance.light(outcome)


def ping_pong(setting: Setting) -> Finding:
    """Run each contender alone and in ping-pong; a single one beside itself."""
    contenders = setting.contenders if len(setting.contenders) > 1 else setting.contenders * 2
    request = setting.request(SHORTEST, *contenders, budget_s=setting.most_s)
    rounds = QUICK_ROUNDS if setting.quick else ROUNDS
    with setting.launching.watching() as observe:
        records = both_ways(request, setting.folder, rounds, observe, launch=setting.launching.launch)
    found = [two_ways(one.label, records) for one in parse_contenders(contenders)]
    every = [record for some in records.values() for record in some]
    share = flagged_share(every)[0]
    lost = sorted({f"{one.trial.contender.label}: {one.reason}" for one in every if one.outcome != "done"})
    return acceptance.ping_pong(found, calm=None if share is None else share < FOREIGN_LIMIT, lost=lost)


def bare(setting: Setting, contender: str) -> Finding:
    """Hold bakeoff's worker against the framework's bare loop."""
    request = setting.request(SHORTEST, contender, budget_s=setting.most_s)
    _, plans, _ = checked(request)
    if not has_bare_loop(plans[0].framework_path):
        return Finding("not applicable", "its folder holds no bare loop")
    rounds = QUICK_ROUNDS if setting.quick else ROUNDS
    before = noise.probe(setting.launching.probe_s).calm
    try:
        found = against_bare(request, rounds, launch=setting.launching.launch)
    except WorkerLostError as lost:
        return Finding("failed", lost.reason)
    after = noise.probe(setting.launching.probe_s).calm
    return acceptance.bare(found, calm=False if False in (before, after) else before)


def batches(setting: Setting) -> Finding:
    """Search every contender's largest batch under one limit."""
    workload = SHORTEST if setting.quick else WITH_CONVOLUTIONS
    limit_bytes = BATCH_LIMIT_BYTES if setting.device == "cpu" else None
    request = setting.request(workload, budget_s=setting.most_s)
    launching = setting.launching
    with launching.watching() as observe:
        return acceptance.batches(
            conductor.search_batches(request, observe, limit_bytes=limit_bytes, launch=launching.launch)
        )
