"""`bakeoff reproduce`: a document's published figures, or those of all, measured here and set beside ours."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bakeoff.cli import FAILED, command_of, completing, dryrun, everything, parameters
from bakeoff.cli.flags import as_flags
from bakeoff.report.called import pasteable
from bakeoff.spec.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from bakeoff.spec.published import PublishedStudy
    from bakeoff.spec.study import Study

HERE, SLURM = "here", "slurm"

Name = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="A name from `bakeoff list studies`, your own file: my_study.toml, or all.",
        autocompletion=completing.studies,
    ),
]
Contenders = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CONTENDER",
        help="In place of the document's rows: FRAMEWORK@VERSION replaces the row of that framework.",
        show_default=False,
        autocompletion=completing.contenders,
    ),
]
Full = Annotated[
    bool, typer.Option("--full", help="At the document's own sizes; if not said, scaled down to what a processor can.")
]
Device = Annotated[
    str | None,
    typer.Option(
        metavar="DEVICE",
        help="cpu, cuda or mps; if not said, a GPU where one is and all environments are for it.",
        show_default=False,
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Shared by all comparisons: after a first round, none starts beyond its share: 90s, 5m, 1h.",
        show_default=False,
    ),
]
Estimate = Annotated[
    bool,
    typer.Option(
        "--estimate",
        help="Start and write nothing: print time, device hours and energy on this machine, one A100, eight, and 100 "
        "nodes.",
    ),
]
Launcher = Annotated[
    str,
    typer.Option(
        metavar=f"{HERE}|{SLURM}",
        help="slurm: each comparison is a job of a cluster; with --dry-run their scripts are printed.",
        autocompletion=completing.one_of((HERE, SLURM)),
    ),
]
Profile = Annotated[
    Path | None,
    typer.Option(
        "--profile", metavar="FILE", help="With --launcher slurm: a site's settings as TOML.", show_default=False
    ),
]


def reproduce(
    study: Name,
    contenders: Contenders = None,
    *,
    full: Full = False,
    device: Device = None,
    budget: Budget = None,
    seed: parameters.Seed = 0,
    results: parameters.Results = "results",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the last study in --results that asked for the same.")
    ] = False,
    estimate: Estimate = False,
    launcher: Launcher = HERE,
    profile: Profile = None,
    dry_run: parameters.DryRun = False,
    json: parameters.Json = False,
) -> None:
    """Measure what a document published, and show its figures beside ours; all of them, by the name all."""
    asked = _Asked(dict(locals()))
    asked.check()
    if launcher == SLURM:
        from bakeoff.cli import launched

        launched.submit(asked.names, asked.words, profile, results, resume=resume, dry_run=dry_run, json=json)
    elif estimate:
        from bakeoff.cli import estimated

        estimated.tell(_possible(asked), results, json=json)
    elif dry_run:
        dryrun.check(resume=resume, search=False)
        for one in _possible(asked):
            dryrun.tell_study(one, results, json=json)
    elif study == everything.ALL:
        _foretell(asked, results, resume=resume, json=json)
        every, interrupt = everything.race(
            asked.declared, results, resume=resume, budget_s=asked.budget_s, command=asked.command
        )
        everything.tell(every, results, interrupt, json=json)
    else:
        _one(asked, results, resume=resume, json=json)


class _Asked:
    """What the words of the command mean for each study."""

    def __init__(self, given: dict[str, Any]) -> None:
        """Take the command's parameters by their names."""
        from bakeoff.study.published import load

        self._given = given
        self.command = command_of(sys.argv[1:])
        self.budget_s = None if given["budget"] is None else parameters.seconds(given["budget"], "--budget")
        self.is_all = given["study"] == everything.ALL
        self.published = everything.shipped() if self.is_all else [load(given["study"])]
        self.names = [one.id for one in self.published] if self.is_all else [str(given["study"])]
        self._declared: dict[str, Study] = {}

    def check(self) -> None:
        """Raise UsageError for options that do not go together, and for contenders that nothing can be."""
        from bakeoff.environments.builds import check_device
        from bakeoff.environments.declared import framework
        from bakeoff.spec.contender import parse_contender

        given = self._given
        for text in given["contenders"] or ():
            framework(parse_contender(text).framework)
        if given["launcher"] not in (HERE, SLURM):
            kind = "launcher"
            raise UnknownNameError(kind, given["launcher"], (HERE, SLURM))
        if given["device"] is not None:
            check_device(given["device"])
        self._check_together()

    def _check_together(self) -> None:
        """Raise UsageError for options that do not go together."""
        given = self._given
        if given["profile"] is not None and given["launcher"] != SLURM:
            msg = "--profile holds the settings of a cluster: give it with --launcher slurm"
            raise UsageError(msg)
        if given["launcher"] == SLURM and given["budget"] is not None:
            msg = "--budget is for one machine; jobs have a time limit each: `time` in the file of --profile"
            raise UsageError(msg)
        if given["launcher"] == SLURM:
            dryrun.check_printed(dry_run=given["dry_run"], json=given["json"])
        alone = [name for name in ("dry_run", "resume", "budget") if given[name]]
        if given["estimate"] and (alone or given["launcher"] == SLURM):
            flags = ", ".join(as_flags(alone)) or "--launcher slurm"
            msg = f"--estimate tells of the whole, and starts nothing: leave out {flags}"
            raise UsageError(msg)
        if given["dry_run"] and given["budget"] is not None and self.is_all:
            msg = "--dry-run of all tells of each study by itself, and a --budget is shared by all: leave out --budget"
            raise UsageError(msg)
        if given["dry_run"] and given["json"] and self.is_all and given["launcher"] == HERE:
            msg = "--dry-run --json tells of one study: name one, or take --estimate --json for all"
            raise UsageError(msg)

    def declared(self, published: "PublishedStudy") -> "Study":
        """Return a study as it is run here; raise UsageError where nothing of it can be."""
        if published.id not in self._declared:
            self._declared[published.id] = self._as_asked(published)
        return self._declared[published.id]

    def _as_asked(self, published: "PublishedStudy") -> "Study":
        """Return a study with the command's options."""
        from bakeoff.study.reproduction import declare

        alone = shlex.join(["bakeoff", "reproduce", published.id, *self.words])
        return declare(
            published,
            full=self._given["full"],
            device=self._device(published),
            contenders=self._given["contenders"] or (),
            seed=self._given["seed"],
            budget_s=None if self.is_all else self.budget_s,
            command=alone if self.is_all else self.command,
        )

    def _device(self, published: "PublishedStudy") -> str:
        """Return the device of a study; say so where it is the processor although a GPU is here."""
        from bakeoff.study.reproduction import place_for

        if self._given["device"] is not None:
            return str(self._given["device"])
        place = place_for(published, self._given["contenders"] or ())
        if place.told:
            sys.stderr.write(f"{pasteable(place.told)}; --device cuda races those that can\n")
        return place.device

    @property
    def words(self) -> list[str]:
        """Return the options that a job of one of these studies is run by."""
        given = self._given
        named = {"--device": given["device"], "--seed": given["seed"] or None}
        options = [word for name, value in named.items() if value is not None for word in (name, str(value))]
        return [*(given["contenders"] or ()), *(["--full"] if given["full"] else []), *options]


def _possible(asked: _Asked) -> "list[Study]":
    """Return the studies that can be run here; of all, say why others cannot. Raises UsageError where none can be."""
    found = []
    for published in asked.published:
        try:
            found.append(asked.declared(published))
        except UsageError as error:
            if len(asked.published) == 1:
                raise
            sys.stderr.write(f"{published.id}: {pasteable(str(error))}\n")
    if not found:
        msg = "nothing of any study can be run here; which frameworks are here: bakeoff list frameworks"
        raise UsageError(msg)
    return found


def _foretell(asked: _Asked, results: str, *, resume: bool, json: bool) -> None:
    """Print how many comparisons all studies have and how long they take, before the first one starts."""
    from bakeoff.cli import foretold
    from bakeoff.race.checks import check_kept
    from bakeoff.race.forecast import earlier
    from bakeoff.study.foreseen import foreseen
    from bakeoff.study.run import finished

    check_kept(Path(results), asked.command)
    before = earlier(Path(results))
    told = []
    for study in _possible(asked):
        done = finished(study, Path(results)) if resume else ()
        told.append(foreseen(study, Path(results), finished=done, before=before))
    said = foretold.sentence(told[0]) if not asked.is_all and told else foretold.sentence_of_all(told, asked.budget_s)
    typer.echo(pasteable(said), err=json)


def _one(asked: _Asked, results: str, *, resume: bool, json: bool) -> None:
    """Run one study and show it; end with the exit code that tells whether anything in it was ranked."""
    from bakeoff.cli import studies

    study = asked.declared(asked.published[0])
    _foretell(asked, results, resume=resume, json=json)
    outcome = studies.race(study, results, resume=resume, json=json)
    if not any(one.status == "ranked" for point in outcome.outcomes for one in point.contenders):
        raise typer.Exit(FAILED)
