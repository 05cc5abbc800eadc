"""`bakeoff verify`: the certificates alone, without a race."""

import sys
from json import dumps
from typing import TYPE_CHECKING

import typer

from bakeoff.cli import FAILED, parameters
from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from bakeoff.spec.verdict import Certificate

VERSION = 1
"""Of the JSON object (docs/json-verify.md)."""


def verify(
    workload: parameters.Workload,
    contenders: parameters.Contenders = None,
    *,
    scenario: parameters.Scenario = None,
    batch_size: parameters.BatchSize = None,
    size: parameters.Size = "full",
    device: parameters.Device = None,
    gpu: parameters.Gpu = None,
    reference_device: parameters.ReferenceDevice = None,
    devices: parameters.DeviceCounts = None,
    scaling: parameters.HowScaled = "weak",
    threads: parameters.Threads = None,
    data: parameters.Data = None,
    padding: parameters.Padding = "fixed",
    max_norm: parameters.MaxNorm = None,
    noise_multiplier: parameters.NoiseMultiplier = None,
    seed: parameters.Seed = 0,
    trial_limit: parameters.TrialLimit = "10m",
    inject: parameters.Inject = None,
    results: parameters.Results = "results",
    json: parameters.Json = False,
) -> None:
    """Show that contenders compute the same thing: the certificate alone."""
    import msgspec

    from bakeoff.cli.progress import shown
    from bakeoff.race import conductor
    from bakeoff.spec.request import Request

    request = Request(
        workload=workload,
        contenders=tuple(contenders or ()),
        scenario=scenario,
        batch_size=batch_size,
        size=size,
        device=device,
        gpu=gpu,
        reference_device=reference_device,
        devices=parameters.counts(devices, "--devices"),
        scaling=parameters.scaling(scaling),
        threads=threads,
        data=data,
        padding=padding,
        max_norm=max_norm,
        noise_multiplier=noise_multiplier,
        seed=seed,
        trial_limit_s=parameters.seconds(trial_limit, "--trial-limit"),
        inject=parameters.injected(inject),
        results=results,
    )
    with shown(sys.stderr if json else sys.stdout, live=not json) as observer:
        certificates = conductor.verify(request, observer)
    if json:
        told = {"version": VERSION, "injected": request.inject, "certificates": msgspec.to_builtins(certificates)}
        typer.echo(dumps(told, indent=2))
    else:
        _tell(certificates, inject)
    if not (certificates and all(certificate.passed for certificate in certificates)):
        raise typer.Exit(FAILED)


def _tell(certificates: "list[Certificate]", inject: str | None) -> None:
    """Print the certificates, behind what was planted for them to refuse."""
    if inject is not None:
        typer.echo(plain(f"a planted fault: the frameworks got {inject}, which a certificate has to refuse"))
    for certificate in certificates:
        typer.echo(plain(_text(certificate), keep="\n"))


def _text(certificate: "Certificate") -> str:
    """Return what is printed of a certificate: every check with its largest error and the error that is allowed."""
    from bakeoff.certify.certificate import in_words

    state = "passed" if certificate.passed else f"NOT passed: {_why(certificate)}"
    if certificate.ready_made:
        head = f"{certificate.contender}, ready-made ({certificate.ready_made}): not held against the reference"
    else:
        head = f"{certificate.contender}, against {certificate.reference or 'no reference'}: {state}"
    checks = [
        f"  {'passed' if check.passed else 'FAILED':<8}{in_words(check):<24}{check.detail}"
        for check in certificate.checks
    ]
    alone = [f"  {'':<8}{'program':<24}{certificate.alone}"] if certificate.alone else []
    return "\n".join([head, *alone, *checks])


def _why(certificate: "Certificate") -> str:
    """Return which checks failed, whose lines below say how, and what the reason says besides."""
    from bakeoff.certify.certificate import in_words

    failed, rest = [check for check in certificate.checks if not check.passed], certificate.reason
    for check in failed:
        rest = rest.removeprefix(f"{in_words(check)}: {check.detail}").removeprefix("; ")
    return "; ".join(part for part in (", ".join(map(in_words, failed)), rest) if part)
