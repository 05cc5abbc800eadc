"""The speed of light: each contender's share of what this machine's matrix products and memory can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.report.page import Line, Picture, Section, Subject, Table
from bakeoff.report.pictures.light import roofline_chart
from bakeoff.report.standings import ranked
from bakeoff.report.units import Unit, listed, percent, rounded, size, unit_for

if TYPE_CHECKING:
    from bakeoff.judge.light import Light, Peak
    from bakeoff.judge.outcome import ContenderOutcome, Outcome

HEAD = "of peak"
"""Of the column beside step times."""

RATES = (Unit("TMAC/s", 1e-12), Unit("GMAC/s", 1e-9), Unit("MMAC/s", 1e-6))
MACS = (Unit("GMAC", 1e-9), Unit("MMAC", 1e-6), Unit("kMAC", 1e-3))
STREAMS = (Unit("TB/s", 1e-12), Unit("GB/s", 1e-9), Unit("MB/s", 1e-6))

_NOTE = (
    "A MAC is a multiplication with its addition. Counted are products of matrices and convolutions as their formulas "
    "are written; algorithms that save multiplications can be above 100 %. Bytes are parameters, the optimiser's state "
    "and the batch, each once a step; intermediate values are not among them. What of these the last-level caches "
    "cannot hold from one step to the next is held against memory's peak."
)


def share_cell(contender: ContenderOutcome) -> str:
    """Return a contender's share of the peak of products; empty where it is unknown."""
    return percent(contender.light.macs_share) if contender.light else ""


def is_known(outcome: Outcome) -> bool:
    """Return whether any contender has a share."""
    return any(one.light for one in ranked(outcome))


def peak_words(outcome: Outcome) -> list[str]:
    """Return what the shares are of, in a sentence for each peak."""
    sentences = []
    for peak, labels in _by_peak(outcome).items():
        whose = "" if len(_by_peak(outcome)) == 1 else f" ({listed(labels)})"
        what = f"{_rate(peak.macs_per_s)} in {_where(peak)}"
        by = peak.macs_by if peak.calm else f"{peak.macs_by}; beside other processes, so it may be too low"
        sentences.append(f"Of peak{whose}: of the fastest matrix products measured on this machine, {what} ({by}).")
    return sentences


def _by_peak(outcome: Outcome) -> dict[Peak, list[str]]:
    """Return the labels of those that are held against each peak."""
    found: dict[Peak, list[str]] = {}
    for one in ranked(outcome):
        if one.light:
            found.setdefault(one.light.peak, []).append(one.label)
    return found


def _where(peak: Peak) -> str:
    """Return where a peak holds: "float32 by 2 threads"."""
    if peak.device != "cpu":
        return f"{peak.precision} on {peak.device}"
    return f"{peak.precision} by {peak.threads} {'thread' if peak.threads == '1' else 'threads'}"


def light_table(outcome: Outcome) -> Table:
    """Return each contender's work in a step, its rates and its shares."""
    heads = ["contender", "work of a step", "rate", HEAD, "bytes of a step", "beyond the caches", "of memory's peak"]
    lines = []
    for one in ranked(outcome):
        light = one.light
        if light is None:
            continue
        products = [_amount(light.macs, MACS), _rate(light.macs_per_s), share_cell(one)]
        beyond = "unknown" if light.peak.cache_bytes is None else size(light.beyond_cache_bytes)
        memory = [size(light.bytes), beyond, _memory_share(light), _memory_peak(light.peak)]
        lines.append(Line([one.label, *products, *memory], marked=bool(light.finding)))
    return Table([*heads, "memory's peak"], lines)


def _memory_share(light: Light) -> str:
    """Return the share of memory's peak; caches can hold the data of a small model."""
    if light.bytes_share is not None:
        return percent(light.bytes_share)
    return "unknown" if None in (light.peak.bytes_per_s, light.peak.cache_bytes) else "none needed"


def _memory_peak(peak: Peak) -> str:
    """Return how fast memory is, and by whom that was reached."""
    return "unknown" if peak.bytes_per_s is None else f"{_amount(peak.bytes_per_s, STREAMS)} ({peak.bytes_by})"


def _rate(value: float) -> str:
    """Return MACs a second with their unit."""
    return _amount(value, RATES)


def _amount(value: float, units: tuple[Unit, ...]) -> str:
    """Return an amount with its unit, in two digits."""
    unit = unit_for([value], units, least=1)
    return f"{rounded(value * unit.per_base)} {unit.name}"


def _cautions(outcome: Outcome) -> list[str]:
    """Return who is faster than a peak that may be too low to refuse by."""
    return [
        f"{one.label}: faster than this machine's peak as it was measured: {one.light.finding}. "
        "Run again on a calm machine, which measures the peak anew."
        for one in outcome.contenders
        if one.status == "ranked" and one.light is not None and one.light.finding
    ]


def _sections(outcome: Outcome) -> list[Section]:
    """Return what the shares are of, and the picture with its table."""
    if not is_known(outcome):
        return []
    shares = [f"{one.label} {share_cell(one)}" for one in ranked(outcome) if one.light]
    finding = f"Roofline: share of the peak of matrix products: {', '.join(shares)}."
    picture = Picture(finding, lambda width: roofline_chart(outcome, width))
    page = Section(kind="page", picture=picture, tables=[light_table(outcome)], notes=[_NOTE])
    return [Section(words=peak_words(outcome)), page]


def _fields(contender: ContenderOutcome) -> dict[str, Any]:
    """Return a contender's work, rates and shares."""
    return {"light": msgspec.to_builtins(contender.light)}


LIGHT = Subject(sections=_sections, cautions=_cautions, fields=_fields)
