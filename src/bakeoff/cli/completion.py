"""`bakeoff completion`: the shell completes commands, options, workloads and contenders."""

import os
import shlex
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from bakeoff.cli.completing import one_of
from bakeoff.report.called import pasteable
from bakeoff.spec.errors import StoreError, UnknownNameError, UsageError

SHELLS = ("bash", "zsh", "fish")

app = typer.Typer(help="Have bash, zsh or fish complete what you type.", rich_markup_mode=None)

Chosen = Annotated[
    str | None,
    typer.Argument(
        metavar="|".join(SHELLS),
        help="Your own, by $SHELL, if not said.",
        show_default=False,
        autocompletion=one_of(SHELLS),
    ),
]

BEGIN = "# >>> bakeoff completion >>>"
END = "# <<< bakeoff completion <<<"
"""Around the lines in a shell's own file, so that they are found again; conda marks its lines so, too."""


class ShellFiles(NamedTuple):
    """Where a shell looks for completions."""

    script: Path
    starts: Path | None
    """The shell's own file that has to name the script; None where the shell finds it by its folder."""
    lines: str = ""
    """What stands there."""


@app.command()
def install(shell: Chosen = None) -> None:
    """Install completion for a shell, and say what was written."""
    chosen = _chosen(shell)
    place = _place(chosen)
    _write(place.script, script_of(chosen))
    typer.echo(f"wrote    {place.script}")
    if place.starts is not None:
        before = _read(place.starts)
        _write(place.starts, _without(before) + f"{BEGIN}\n{place.lines}\n{END}\n")
        typer.echo(f"{'kept' if BEGIN in before else 'added':<8} its lines at the end of {place.starts}")
    typer.echo(f"start a new {chosen}, and press TAB behind: bakeoff run")
    typer.echo(pasteable(f"undo it: bakeoff completion remove {chosen}"))


@app.command(short_help="Remove what was installed.")
def remove(shell: Chosen = None) -> None:
    """Remove what `bakeoff completion install` wrote."""
    place = _place(_chosen(shell))
    removed = False
    if place.script.is_file():
        place.script.unlink()
        typer.echo(f"removed  {place.script}")
        removed = True
    if place.starts is not None and BEGIN in (before := _read(place.starts)):
        _write(place.starts, _without(before))
        typer.echo(f"removed  its lines in {place.starts}")
        removed = True
    if not removed:
        typer.echo(f"nothing to remove: there is no {place.script}")


@app.command()
def show(shell: Chosen = None) -> None:
    """Print the script, to be kept wherever you like."""
    typer.echo(script_of(_chosen(shell)), nl=False)


BASH = """\
_bakeoff_completion() {
    local IFS=$'\\n' typed="${COMP_LINE:0:COMP_POINT}" word breaks before=
    word="${typed##* }" breaks="${COMP_WORDBREAKS//[^:=@]/}"
    # bash itself keeps what stands before the last of its own word breaks.
    [[ -n $breaks && $word == *[$breaks]* ]] && before="${word%"${word##*[$breaks]}"}"
    COMPREPLY=($(env _TYPER_COMPLETE_ARGS="$typed" _TYPER_COMPLETE_FISH_ACTION=get-args \
        VARIABLE=complete_fish "$1" 2>/dev/null | cut -f1))
    COMPREPLY=("${COMPREPLY[@]#"$before"}")
}
complete -o default -F _bakeoff_completion bakeoff
"""
"""typer's own script for bash knows no word with a colon in it, as a contender's is."""


def script_of(shell: str) -> str:
    """Return the script for a shell: typer's own, but for bash."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined] # not private

    from bakeoff.cli.app import COMPLETE_VARIABLE

    if shell == "bash":
        return BASH.replace("VARIABLE", COMPLETE_VARIABLE)
    return get_completion_script(prog_name="bakeoff", complete_var=COMPLETE_VARIABLE, shell=shell) + "\n"


def _chosen(named: str | None) -> str:
    """Return the shell that was named, or the user's; raise UsageError where it is none of those that have a script."""
    if named is not None:
        if named not in SHELLS:
            kind = "shell"
            raise UnknownNameError(kind, named, SHELLS)
        return named
    path = os.environ.get("SHELL", "")
    for shell in SHELLS:
        if Path(path).name == shell:
            return shell
    msg = f"$SHELL is {path!r}, for which there is no completion: name one of {', '.join(SHELLS)}"
    raise UsageError(msg)


def _place(shell: str) -> ShellFiles:
    """Return where a shell finds its completion; the environment names the folders, as each shell's manual says."""
    home = Path.home()
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    if shell == "fish":
        return ShellFiles(config / "fish" / "completions" / "bakeoff.fish", None)
    script = config / "bakeoff" / f"completion.{shell}"
    path = shlex.quote(str(script))
    load = f"[ -r {path} ] && . {path}"
    if shell == "bash":
        return ShellFiles(script, home / ".bashrc", load)
    # compdef, which the script calls, is there once compinit has run.
    begin = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }"
    return ShellFiles(script, Path(os.environ.get("ZDOTDIR") or home) / ".zshrc", f"{begin}\n{load}")


def _read(path: Path) -> str:
    """Return a file's text; none where there is no file."""
    return path.read_text(encoding="utf-8", errors="surrogateescape") if path.is_file() else ""


def _without(text: str) -> str:
    """Return a shell's file without the lines that were added."""
    head, mark, rest = text.partition(f"{BEGIN}\n")
    if not mark:
        return text + ("\n" if text and not text.endswith("\n") else "")
    return head + rest.partition(f"{END}\n")[2]


def _write(path: Path, text: str) -> None:
    """Write a file at once and whole, through a link where it is one, with the mode that it had."""
    real = path.resolve()
    fresh = real.with_name(f"{real.name}.bakeoff-{os.getpid()}")
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        _replace(real, fresh, text)
    except OSError as error:
        msg = (
            f"cannot write {path}: {error.strerror or error}; XDG_CONFIG_HOME and ZDOTDIR name the folders of a "
            "shell's files, and `bakeoff completion show` prints the script, to be kept elsewhere"
        )
        raise StoreError(msg) from error


def _replace(real: Path, fresh: Path, text: str) -> None:
    """Write a file beside another one, and put it in its place."""
    try:
        fresh.write_text(text, encoding="utf-8", errors="surrogateescape")
        if real.exists():
            shutil.copymode(real, fresh)
        fresh.replace(real)
    finally:
        with suppress(OSError):  # What was in the way of writing is told.
            fresh.unlink()
