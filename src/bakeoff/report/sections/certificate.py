"""Certificates: in one line, check by check, and what the contenders learned while they were made."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.certify.certificate import in_words
from bakeoff.certify.update import DIVERGES
from bakeoff.report.page import Line, Section, Subject, Table
from bakeoff.report.standings import ranked
from bakeoff.report.units import error, listed
from bakeoff.report.words import source_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.judge.search import LargestBatch
    from bakeoff.spec.verdict import Certificate

_WORDS = {
    "outputs": "outputs",
    "loss": "losses",
    "gradients": "gradients",
    "state": "running statistics",
    "optimizer": "optimiser steps",
    "update": "updates",
    "trajectory": "parameters after every step",
    "metric": "the workload's own metric",
    "norms": "norms of the samples' gradients",
}

WEAK = 0.1
"""An allowed error of outputs or gradients above which a reader is told so: another epsilon, padding or activation may
move less than a tenth."""


_ELEMENTS = {"outputs": "outputs", "gradients": "single elements of gradients"}
"""What these checks allow so much of: gradients are held all together, too, and more closely."""


def same_work(outcome: Outcome) -> str:
    """Return whether the contenders do the same work, in a few words: "Same work: verified"."""
    return verified(outcome.contenders)


def same_work_within(outcome: Outcome) -> str:
    """Return the same with how closely, in both stages: "Same work: verified (in float64: within 2e-12; ..."."""
    held = [one.certificate for one in outcome.contenders if one.certificate and one.certificate.passed]
    held = [one for one in held if not one.ready_made]
    errors = [worst for name in _WORDS if (worst := _worst(held, name, ("program",))) is not None]
    most = max(errors, default=0.0)
    # The reference is some contender's own program.
    program = f"in float64: {f'within {error(most)}' if most else 'no difference'}" if errors else ""
    # Gradients of float32 may honestly be far off where a model magnifies rounding: they are in the certificate's line.
    timed = _within(held, ("timed", ""), ("outputs", "loss"))
    alone = [one.contender for one in held if one.alone]
    without = f"{listed(alone)} not run in float64" if alone else ""
    said = f"as timed: {timed}" if timed and (program or without) else timed
    found = "; ".join(part for part in (program, without, said) if part)
    return verified(outcome.contenders, f" ({found})" if found else "")


def verified(contenders: Sequence[ContenderOutcome | LargestBatch], within: str = "") -> str:
    """Return which of these are shown to do the same work, in a few words, and behind them `within`."""
    certificates = [one.certificate for one in contenders if one.certificate]
    held = [one.contender for one in certificates if one.passed and not one.ready_made]
    ready_made = [one.contender for one in certificates if one.passed and one.ready_made]
    others = [one.label for one in contenders if one.label not in held and one.label not in ready_made]
    if not held and not ready_made:
        return "Same work: not verified"
    all_held = not others and not ready_made
    parts = ["Same work: verified" + ("" if all_held else f" for {listed(held)}") + within] if held else []
    parts += [f"not for {listed(others)}"] if others and held else []
    parts += [f"ready-made and compared with nothing: {listed(ready_made)}"] if ready_made else []
    return "; ".join(parts)


def same_work_of(outcomes: Mapping[str, Outcome]) -> str:
    """Return the same of several comparisons, by their titles: once where it is the same everywhere, else by title."""
    found: dict[str, list[str]] = {}
    for title, outcome in outcomes.items():
        found.setdefault(same_work(outcome), []).append(title)
    if len(found) <= 1:
        return next(iter(found), "")
    most, *rest = sorted(found, key=lambda said: -len(found[said]))
    each = [f"at {_titles(found[said])} {_state(said)}" for said in rest]
    return f"{most} at {len(found[most])} of {len(outcomes)} points; {'; '.join(each)}"


def _state(said: str) -> str:
    """Return what is said of the work behind "Same work: ", in one piece."""
    return said.removeprefix("Same work: ").replace("; ", ", ")


def _titles(titles: list[str]) -> str:
    """Return the titles of some points, which may have commas of their own."""
    return " and ".join(titles) if any("," in title for title in titles) else listed(titles)


def certificate_line(outcome: Outcome) -> str:
    """Return what the contenders have in common, and who has no certificate."""
    certificates = [contender.certificate for contender in outcome.contenders if contender.certificate]
    passed = [certificate for certificate in certificates if certificate.passed]
    if not certificates:
        return "none yet"
    if not passed:
        return "not passed by any contender"
    missing = [contender.label for contender in outcome.contenders if contender.certificate not in passed]
    held = [certificate for certificate in passed if not certificate.ready_made]
    state = "passed" if not missing else f"passed by {listed(one.contender for one in held)}"
    ready_made = [f"{one.contender} is ready-made, compared with nothing" for one in passed if one.ready_made]
    return "; ".join([*_common(outcome, held), *([state] if held else []), *ready_made])


def _common(outcome: Outcome, passed: list[Certificate]) -> list[str]:
    """Return the parameters, and the largest errors over all passed certificates: in float64, and as timed."""
    size = outcome.comparison.workload.sizes.get(outcome.comparison.size)
    counted = ["parameters" in {check.name for check in certificate.checks} for certificate in passed]
    is_counted = bool(counted) and all(counted)
    parameters = f"same {size.parameters:,} parameters" if size and size.parameters and is_counted else ""
    program, timed = (_within(passed, stages) for stages in (("program",), ("timed", "")))
    alone = [one.contender for one in passed if one.alone and not one.ready_made]
    missing = f" ({listed(alone)}: not run in float64)" if alone else ""
    parts = [f"the program in float64: {program}" if program else "", f"as timed: {timed}" if program else timed]
    against = f"{'; '.join(part for part in parts if part)} of float64{_reference(outcome)}{missing}"
    return [part for part in (parameters, against if program or timed else "") if part]


def _within(passed: list[Certificate], stages: tuple[str, ...], names: Iterable[str] = _WORDS) -> str:
    """Return the largest errors of some checks in some stages; empty where there are none."""
    noisy = any(check.name == "noise" for one in passed for check in one.checks)
    words = _WORDS | ({} if "program" in stages and not noisy else {"loss": _losses(passed)})
    errors = [f"{words[name]} within {error(worst)}" for name in names if (worst := _worst(passed, name, stages))]
    return ", ".join(errors)


def _losses(passed: list[Certificate]) -> str:
    """Return which losses are held of every contender as timed, in words: all, or the first of them."""
    held = min((one.losses for one in passed if one.losses is not None), default=None)
    return _WORDS["loss"] if held is None else "first loss" if held == 1 else f"first {held} losses"


def _worst(passed: list[Certificate], name: str, stages: tuple[str, ...]) -> float | None:
    """Return the largest error of one check in some stages; None where no contender has it."""
    checks = [check for one in passed for check in one.checks if check.name == name and check.stage in stages]
    return max((check.error for check in checks if check.error is not None), default=None)


def _reference(outcome: Outcome) -> str:
    """Return what computed the reference, in brackets."""
    plan = outcome.comparison.reference
    return f" ({plan.title or plan.contender.framework})" if plan else ""


def certificate_table(outcome: Outcome) -> Table:
    """Return every check of every certificate, with what was found and what is allowed; what failed is marked."""
    lines = []
    for one in outcome.contenders:
        if one.certificate is None:
            lines.append(Line([one.label, "", "no certificate", one.reason, "", ""], marked=True))
            continue
        if not one.certificate.checks:
            lines.append(Line([one.label, "", "not passed", one.certificate.reason, "", ""], marked=True))
        for check in one.certificate.checks:
            numbers = ["" if value is None else error(value) for value in (check.error, check.allowed)]
            state = "passed" if check.passed else "not passed"
            lines.append(Line([one.label, in_words(check), state, check.detail, *numbers], marked=not check.passed))
    return Table(["contender", "check", "", "finding", "largest error", "allowed"], lines, words=4)


def accuracy(outcome: Outcome) -> list[str]:
    """Return what the contenders learned; nothing where nothing was to be learned."""
    learned = [contender for contender in ranked(outcome) if contender.accuracy is not None]
    if not learned:
        return []
    steps = listed(dict.fromkeys(f"{contender.learning_steps:,}" for contender in learned))
    reached = ", ".join(f"{contender.label} {_with_error(contender)}" for contender in learned)
    samples = max(contender.test_samples for contender in learned)
    size = f"; ± standard error over {samples:,} samples" if samples else ""
    said = f"Accuracy on held-out {source_name(outcome.comparison)} after {steps} training steps"
    return [f"{said}: {reached} (one run each{size})."]


def _with_error(contender: ContenderOutcome) -> str:
    """Return an accuracy with its binomial standard error, where the number of samples is known."""
    accuracy = contender.accuracy or 0.0
    if not contender.test_samples:
        return f"{accuracy:.3f}"
    return f"{accuracy:.3f} ± {math.sqrt(accuracy * (1.0 - accuracy) / contender.test_samples):.3f}"


def _sections(outcome: Outcome) -> list[Section]:
    """Return what was learned, and the fold with all checks."""
    notes, tables = [f"{certificate_line(outcome)}."], [certificate_table(outcome)]
    fold = Section(kind="fold", title="Certificate", notes=notes, tables=tables)
    return [Section(words=accuracy(outcome)), fold]


def _cautions(outcome: Outcome) -> list[str]:
    """Return whose training diverges, and who is held as timed alone where a model magnifies rounding far."""
    said = _diverging(outcome)
    for one in (contender.certificate for contender in outcome.contenders if contender.certificate):
        held = [check for check in one.checks if check.name in _ELEMENTS and check.stage == "timed"]
        wide = [check for check in held if check.allowed is None or check.allowed > WEAK]
        if one.passed and one.alone and not one.ready_made and wide:
            most = listed(f"{_ELEMENTS[check.name]} {_as_far(check.allowed)}" for check in wide)
            said.append(
                f"{one.contender} was not run in float64, and as timed this model magnifies rounding: {most} pass its "
                "certificate, so that a smaller fault may not be seen."
            )
    return said


def _diverging(outcome: Outcome) -> list[str]:
    """Return that training diverges, and whose ends in numbers that are not finite, which tie nothing that is timed."""
    certificates = [one.certificate for one in outcome.contenders if one.certificate and one.certificate.passed]
    timed = [(one, check) for one in certificates for check in one.checks if check.stage != "program"]
    labels = [one.contender for one, check in timed if check.name == "update" and DIVERGES in check.detail]
    if labels:
        said = (
            f"{listed(labels)}: {DIVERGES} within the certificate's steps, beyond what the precision holds: steps are "
            f"timed on numbers that are not finite, and only the first of them are held to the certificate. {_USEFUL}"
        )
        return [said]
    far = [check.detail for _, check in timed if check.name == "informative" and DIVERGES in check.detail]
    return [f"{DIVERGES.capitalize()}{far[0].partition(DIVERGES)[2]}. {_USEFUL}"] if far else []


_USEFUL = (
    "A smaller learning rate, inputs that are scaled to about 1 or another batch size times what is worth training."
)


def _as_far(allowed: float | None) -> str:
    """Return how far something may be off."""
    return "however far off" if allowed is None else f"that are off by up to {error(allowed)}"


def _fields(contender: ContenderOutcome) -> dict[str, Any]:
    """Return a contender's certificate, check by check, and what it learned."""
    told: dict[str, Any] = {"accuracy": contender.accuracy, "learning_steps": contender.learning_steps}
    told["test_samples"] = contender.test_samples
    certificate = msgspec.to_builtins(contender.certificate)
    if certificate is not None:
        del certificate["contender"]
    return told | {"certificate": certificate}


CERTIFICATE = Subject(sections=_sections, cautions=_cautions, fields=_fields)
