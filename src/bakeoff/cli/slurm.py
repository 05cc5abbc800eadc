"""`bakeoff slurm`: the comparisons of a command as jobs of Slurm, and what became of them."""

from __future__ import annotations

import inspect
import shlex
import signal
import sys
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bakeoff.cli import FAILED, code_of, completing, dryrun, parameters
from bakeoff.cli.flags import as_flags
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from bakeoff.cluster.plans import JobPlan
    from bakeoff.cluster.status import Status

app = typer.Typer(
    help="Run comparisons as jobs of Slurm: one array element for each.", rich_markup_mode=None, no_args_is_help=True
)

AS_TYPED = {"allow_interspersed_args": False}
"""Options behind the command's first word are that command's."""

Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="COMMAND",
        help="What to run, as without Slurm: run ..., use-case ... or reproduce ..., with all options. With "
        "--benchmark and --use-case: contenders and options. For submit also a study's folder: what is "
        "open of it.",
        show_default=False,
    ),
]
Number = Annotated[
    str | None,
    typer.Option(
        "--use-case", metavar="1|2|3|4", help="With --benchmark: a use case by its number.", show_default=False
    ),
]
Benchmark = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="With --use-case: a benchmark of `bakeoff use-case`: mnist, cifar10, nlp or gnn.",
        show_default=False,
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        metavar="frameworks",
        help="The reference pipeline's scripts, slurm_scripts/<framework>_<benchmark>_<use_case_number>.sh: one job "
        "for each contender. Such results are unpaired.",
        show_default=False,
        autocompletion=completing.one_of(("frameworks",)),
    ),
]
File = Annotated[
    Path | None,
    typer.Option("--profile", metavar="FILE", help="A site's settings as TOML; options win.", show_default=False),
]


def _option(metavar: str, words: str, *flags: str) -> Any:
    """Return an option that a profile may hold, too."""
    return typer.Option(*flags, metavar=metavar, help=words, show_default=False)


Partition = Annotated[str | None, _option("NAME", "Where jobs wait.")]
Account = Annotated[str | None, _option("NAME", "Whom they are charged to.")]
Qos = Annotated[str | None, _option("NAME", "Quality of service.")]
Constraint = Annotated[str | None, _option("FEATURES", "What their nodes must have, as sbatch writes it.")]
Gpus = Annotated[
    str | None,
    _option("TYPE[:N]|N", "GPUs by type, by number or both: a100, 2, a100:2; as many as are trained on if not said."),
]
Cpus = Annotated[int | None, _option("N", "Processor cores of a job.")]
Memory = Annotated[str | None, _option("SIZE", "Memory of a node, as sbatch writes it: 64G.")]
Time = Annotated[
    str | None, _option("TIME", "Limit of an element: 30m, 4h; from what was measured before if not said.")
]
Exclusive = Annotated[bool, typer.Option("--exclusive", help="No other jobs on the node meanwhile.")]
AtOnce = Annotated[int | None, _option("N", "So many elements at the same time.")]
Restarts = Annotated[
    int | None, _option("N", "How often an element is begun again that reached its time limit; 5 if not said.")
]
Python = Annotated[str | None, _option("FILE", "The nodes' interpreter that has bakeoff; this one if not said.")]
Container = Annotated[str | None, _option("COMMAND", "What stands before it, as: apptainer exec --nv bakeoff.sif")]
Setup = Annotated[list[str] | None, _option("LINE", "A line of shell before it; may be given several times.")]
Sbatch = Annotated[list[str] | None, _option("OPTION", "A further option of sbatch: --sbatch=--nodelist=gpu01.")]
Template = Annotated[str | None, _option("FILE", "The site's own template of the script (docs/slurm.md).")]
Folder = Annotated[
    str | None,
    typer.Argument(
        metavar="STUDY", help="By its id, its end or its folder; the latest if not said.", show_default=False
    ),
]
Dry = Annotated[bool, typer.Option("--dry-run", help="Write and submit nothing: print the scripts.")]


@app.command("write", context_settings=AS_TYPED, short_help="Write the scripts of a command.")
def write(
    words: Words = None,
    *,
    benchmark: Benchmark = None,
    use_case: Number = None,
    split: Split = None,
    profile: File = None,
    partition: Partition = None,
    account: Account = None,
    qos: Qos = None,
    constraint: Constraint = None,
    gpus: Gpus = None,
    cpus: Cpus = None,
    memory: Memory = None,
    time: Time = None,
    exclusive: Exclusive = False,
    at_once: AtOnce = None,
    restarts: Restarts = None,
    python: Python = None,
    container: Container = None,
    setup: Setup = None,
    sbatch: Sbatch = None,
    template: Template = None,
    results: parameters.Results = "results",
    dry_run: Dry = False,
    json: parameters.Json = False,
) -> None:
    """Write sbatch scripts: one array with an element for each comparison, all its contenders on the same node."""
    given = dict(locals())
    dryrun.check_printed(dry_run=dry_run, json=json)
    folder, plan = written(given, dry_run=dry_run)
    if not dry_run:
        _tell(folder, plan, json=json)


def submit(**given: Any) -> None:
    """Write the scripts and submit them; of a folder that was written before, what is neither done nor in the queue."""
    from bakeoff.cli.slurm_told import submitted_lines
    from bakeoff.cluster import plans
    from bakeoff.cluster.submitting import hand_over

    words = given["words"] or []
    if len(words) == 1 and (Path(words[0]) / plans.FOLDER / plans.PLAN_FILE).is_file():
        _check_alone(given)
        folder = Path(words[0])
        plan = plans.read(folder)
    else:
        dryrun.check_printed(dry_run=given["dry_run"], json=given["json"])
        folder, plan = written(given, dry_run=given["dry_run"])
    if given["dry_run"]:
        return
    new = hand_over(folder, plan)
    for line in submitted_lines(folder, new):
        typer.echo(line, err=given["json"])
    _tell(folder, plan, json=given["json"], only_json=True)


submit.__signature__ = inspect.signature(write, eval_str=True)  # type: ignore[attr-defined] # by which typer reads the options
submit.__annotations__ = write.__annotations__
app.command("submit", context_settings=AS_TYPED, short_help="Write and submit them; or submit what is open.")(submit)


@app.command("status", short_help="Show what is done, running, waiting, failed and left.")
def status(study: Folder = None, *, results: parameters.Results = "results", json: parameters.Json = False) -> None:
    """Show how far a study is, from its records; Slurm is asked at most once in 5 seconds."""
    folder, plan = _found(results, study)
    _tell(folder, plan, json=json)


@app.command("cancel", short_help="Have Slurm end what waits and runs.")
def cancel(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="By its id, its end or its folder.")],
    *,
    results: parameters.Results = "results",
) -> None:
    """Have Slurm end all jobs of a study; what is finished stays, and submit goes on with the rest."""
    from bakeoff.cluster.submitting import end_jobs

    folder, _ = _found(results, study)
    jobs = end_jobs(folder)
    typer.echo(f"cancelled {', '.join(jobs)}" if jobs else "nothing to cancel: no array of it was submitted")


@app.command("collect", short_help="Make the study's report of what there is.")
def collect(study: Folder = None, *, results: parameters.Results = "results", json: parameters.Json = False) -> None:
    """Make one study of all comparisons, with every failure and the end of its log, and show it; again at any time."""
    from bakeoff.cli.slurm_told import show_collected
    from bakeoff.cluster.collect import gather
    from bakeoff.cluster.status import status_of

    folder, plan = _found(results, study)
    found = status_of(folder, plan)
    gather(folder, plan, found.rows)
    _tell(folder, plan, json=json, known=found)
    if not json:
        show_collected(folder, plan)
    if found.count("done") < len(found.rows):
        raise typer.Exit(FAILED)


@app.command("element", short_help="Run one comparison: what the scripts call.")
def element(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The study's.")],
    number: Annotated[int, typer.Argument(metavar="N", help="Which of its comparisons, from 0 on.")],
) -> None:
    """Run or go on with one comparison of a study; exit code 75 where the time limit came before the end."""
    from bakeoff.cli.jobs import point_of
    from bakeoff.cli.progress import shown
    from bakeoff.cluster import plans
    from bakeoff.cluster.element import ElementRun, job_here
    from bakeoff.cluster.script import AGAIN

    plan = plans.read(folder)
    running, out_of_time = ElementRun(folder, plan, number), _OutOfTime()
    try:
        with shown(sys.stdout, live=False) as observer:
            state = running.run(point_of, observer)
    except KeyboardInterrupt as interrupt:
        if not out_of_time.came:
            sys.stderr.write("interrupted\n")
            raise typer.Exit(code_of(interrupt)) from None
        if job_here().restarts < plan.profile.restarts:
            raise typer.Exit(AGAIN) from None
        running.fail(f"the time limit came {plan.profile.restarts + 1} times before the end: give it more by --time")
        raise typer.Exit(FAILED) from None
    typer.echo(f"{state.ended}: {state.reason}" if state.reason else state.ended)
    if state.ended != "done":
        raise typer.Exit(FAILED)


class _OutOfTime:
    """Whether Slurm has said that the time limit is near, which interrupts what runs."""

    def __init__(self) -> None:
        """Listen from now on."""
        self.came = False
        signal.signal(signal.SIGUSR1, self._note)

    def _note(self, number: int, frame: object) -> None:
        """Interrupt what runs, once."""
        del number, frame
        if not self.came:
            self.came = True
            raise KeyboardInterrupt


def defaults() -> dict[str, Any]:
    """Return the values that options of `write` and `submit` have where they are not given."""
    return {name: parameter.default for name, parameter in inspect.signature(write).parameters.items()}


def written(given: dict[str, Any], *, dry_run: bool) -> tuple[Path, JobPlan]:
    """Write the plan and the scripts of a command, or print them; return the study's folder and its plan."""
    from bakeoff.cli.jobs import script_names
    from bakeoff.cli.slurm_told import written_lines
    from bakeoff.cluster import plans, script, submitting
    from bakeoff.race.checks import check_kept

    results = Path(given["results"])
    plan, jobs = _planned(given, results)
    check_kept(results, plan)
    names = script_names(jobs) if plan.unpaired else ()
    submitting.check_replaceable(names)
    if dry_run:
        folder = results / f"{plan.name}-xxxx"
        for text in script.scripts(folder, plan).values():
            typer.echo(text)
        typer.echo("Nothing was written or submitted.")
        return folder, plan
    script.scripts(results, plan)  # What cannot be is refused before anything is written.
    folder, plan = plans.begin(results, plan)
    paths = submitting.write(folder, plan, names)
    for line in written_lines(folder, plan, paths):
        typer.echo(line, err=given["json"])
    return folder, plan


def _planned(given: dict[str, Any], results: Path) -> tuple[JobPlan, Any]:
    """Return the plan that options and words ask for, and the jobs that it is of."""
    from bakeoff.cli.jobs import jobs_of
    from bakeoff.cluster import costs, plans, profile

    site = profile.read(given["profile"], **{name: given[name] for name in _OF_PROFILE if given[name] is not None})
    if given["split"] not in (None, "frameworks"):
        msg = f"--split {given['split']!r} cannot be; valid: frameworks"
        raise UsageError(msg)
    jobs = jobs_of(_words(given), apart=given["split"] is not None, on_gpus=site.gpus is not None)
    if site.time is not None:
        limit = costs.Limit(parameters.seconds(site.time, "--time"), "as was said")
    else:
        limit = costs.limit_of(jobs.elements, costs.measured(results))
    made = plans.JobPlan(
        name=jobs.name,
        title=jobs.title,
        command=shlex.join(["bakeoff", *sys.argv[1:]]),
        elements=jobs.elements,
        unpaired=given["split"] is not None,
        reproduces=jobs.reproduces,
        profile=site,
        limit_s=limit.seconds,
        limit_why=limit.why,
    )
    return made, jobs


_OF_PROFILE = (
    *("partition", "account", "qos", "constraint", "gpus", "cpus", "memory", "time", "exclusive", "at_once"),
    *("restarts", "python", "container", "setup", "sbatch", "template"),
)


def _words(given: dict[str, Any]) -> list[str]:
    """Return the words of the command that is to be run; raise UsageError where there is none."""
    words = list(given["words"] or [])
    both = (given["benchmark"], given["use_case"])
    if any(both) and not all(both):
        msg = "--benchmark and --use-case go together: --benchmark mnist --use-case 1"
        raise UsageError(msg)
    if all(both):
        return ["use-case", given["use_case"], "--benchmark", given["benchmark"], *words]
    if not words:
        msg = "name what to run: `bakeoff slurm submit run mlp-mnist`, or --benchmark mnist --use-case 1"
        raise UsageError(msg)
    return words


def _check_alone(given: dict[str, Any]) -> None:
    """Raise UsageError for options beside a folder whose scripts are written."""
    said = [name for name in (*_OF_PROFILE, "profile", "split", "benchmark", "use_case") if given[name]]
    if said or given["dry_run"]:
        flags = ", ".join(as_flags([*said, *(["dry_run"] if given["dry_run"] else [])]))
        msg = f"{given['words'][0]} is written already, and what its jobs ask for is in its scripts: leave out {flags}"
        raise UsageError(msg)


def _found(results: str, study: str | None) -> tuple[Path, JobPlan]:
    """Return a study of jobs and its plan, by default the latest; raise UsageError where there is none."""
    from bakeoff.cluster import plans
    from bakeoff.store.results import find
    from bakeoff.store.studies import studies

    if study is not None:
        folder = find(Path(results), study)
        return folder, plans.read(folder)
    of_jobs = [one for one in studies(Path(results)) if (one / plans.FOLDER / plans.PLAN_FILE).is_file()]
    if not of_jobs:
        msg = f"no study in {results} has jobs: submit one first (bakeoff slurm submit run mlp-mnist)"
        raise UsageError(msg)
    return of_jobs[-1], plans.read(of_jobs[-1])


def _tell(folder: Path, plan: JobPlan, *, json: bool, known: Status | None = None, only_json: bool = False) -> None:
    """Print how far a study is."""
    from bakeoff.cli.slurm_told import data, lines
    from bakeoff.cluster.status import status_of

    if only_json and not json:
        return
    found = known or status_of(folder, plan)
    if json:
        typer.echo(dumps(data(folder, plan, found), indent=2))
        return
    for line in lines(folder, plan, found):
        typer.echo(line)
