"""`bakeoff gallery`: a static site of many comparisons and studies, for any web server."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from bakeoff.cli import completing
from bakeoff.spec.errors import BakeoffError, NoPictureError, StoreError, UnknownNameError, UsageError
from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from bakeoff.report.gallery.card import Card, Undertaken
    from bakeoff.report.gallery.found import PageSource
    from bakeoff.report.gallery.made import GalleryEntry
    from bakeoff.report.gallery.site import Records, Site

RECORDS = ("copy", "link", "none")

_EVERY = 25
"""Pages between two lines about how far it is: some tens of seconds."""

_LINKED = (
    "--records link: the path of each folder of records stands in its page as it is, for readers who see these "
    "folders; for all others take --records copy or --records none"
)


def gallery(
    results: Annotated[
        list[str],
        typer.Argument(
            metavar="RESULTS",
            help="Folders of results, or of single comparisons, studies, searches and acceptances.",
            show_default=False,
        ),
    ],
    *,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FOLDER", help="Where the site is written.", show_default=False),
    ],
    title: Annotated[str, typer.Option(metavar="TEXT", help="The heading of the list.")] = "Gallery",
    records: Annotated[
        str,
        typer.Option(
            metavar="|".join(RECORDS),
            help="How a page leads to its records: to an archive beside it, to the folder where they lie, or not.",
            autocompletion=completing.one_of(RECORDS),
        ),
    ] = RECORDS[0],
    redact: Annotated[
        bool,
        typer.Option(
            "--redact/--no-redact",
            help="Leave out folders, names of users and machines, values that look like keys, logs and arrays.",
        ),
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace files in FOLDER that are not bakeoff's.")] = False,
) -> None:
    """Make a static site of many comparisons and studies, to be searched, filtered and put on any web server.

    A second call makes anew what has changed, and removes the pages of records that are gone.
    """
    from bakeoff.acceptance.redacted import sharing_redactor
    from bakeoff.report.forms.drawings import renderer
    from bakeoff.report.gallery import made
    from bakeoff.report.gallery.found import found_in
    from bakeoff.report.gallery.site import Site

    how = _records(records)
    renderer()  # Raises what there is to raise before the first page.
    using = sharing_redactor() if redact else None
    if how == "link" and redact:
        typer.echo(_LINKED, err=True)
    found, lost = found_in(map(Path, results), output, using.text if using else str)
    for sentence in lost:
        _warn(sentence)
    if not found:
        where = ", ".join(results)
        msg = f"no comparison in {where}: run one first (bakeoff run mlp-mnist), or name other folders of results"
        raise UsageError(msg)
    made.check(output, [one.slug for one in found], force=force)
    site = Site(output, title, how, using)
    _make(site, found)


def _records(text: str) -> "Records":
    """Return how pages lead to their records; raise UnknownNameError for anything else."""
    from bakeoff.report.gallery.site import Records

    known: tuple[Records, ...] = get_args(Records)
    for one in known:
        if text == one:
            return one
    kind = "way to records"
    raise UnknownNameError(kind, text, known)


def _make(site: "Site", found: "list[PageSource]") -> None:
    """Make every page that is not as its records are, then the list; say what was done.

    What is interrupted leaves a list of all that is there, and the next call goes on.
    """
    from bakeoff.report.gallery import made
    from bakeoff.spec.text import count

    before = made.entries(site.folder)
    wanted = {one.slug for one in found}
    parts: dict[str, list[PageSource]] = {}
    for one in found:
        if one.kind == "comparison":
            parts.setdefault(one.study, []).append(one)
    cards: dict[str, Card] = {}
    lost: set[str] = set()
    anew = 0
    try:
        for number, one in enumerate(found, 1):
            # Without a page a study stands for none of its comparisons, and no way leads to it.
            here = one._replace(study="") if one.study in lost else one
            card, is_new = _card(site, here, parts.get(one.slug, []), before.get(one.slug))
            if card is None:
                lost.add(one.slug)
                kept = [slug for slug in before if slug not in wanted and _stem(slug) == _stem(one.slug)]
                cards |= {slug: before[slug].card for slug in kept}
                continue
            cards[one.slug] = card
            anew += is_new
            if is_new and anew % _EVERY == 0:
                typer.echo(f"{number:,} of {len(found):,}", err=True)
    except KeyboardInterrupt:
        if cards:
            site.write_list(
                (cards | {slug: entry.card for slug, entry in before.items() if slug not in cards}).values()
            )
        raise
    if not cards:
        msg = f"no page could be made of what was found, for the reasons above; {site.folder} is left as it is"
        raise StoreError(msg)
    gone = [entry for slug, entry in before.items() if slug not in cards]
    site.write_list(cards.values())
    _remove(site, gone)
    same = f", {len(cards) - anew:,} as they were" if len(cards) > anew else ""
    pages = count(len(cards), "page")
    removed = f", {len(gone):,} removed" if gone else ""
    typer.echo(f"gallery  {site.folder / 'index.html'}: {pages}, {anew:,} made{same}{removed}")


def _remove(site: "Site", gone: "list[GalleryEntry]") -> None:
    """Remove the pages of records that are no longer there; say what cannot be removed."""
    from bakeoff.report.gallery import made

    for entry in gone:
        for sentence in made.remove(site.folder, entry):
            typer.echo(plain(sentence), err=True)


def _card(
    site: "Site", one: "PageSource", parts: "list[PageSource]", before: "GalleryEntry | None"
) -> "tuple[Card | None, bool]":
    """Return the card of an undertaking, and whether its page was made now; None where it cannot be made.

    Where it cannot, and was made earlier, that page stays. `parts` are a study's comparisons.
    """
    from bakeoff.report.gallery import made
    from bakeoff.store.absurd import told_if_absurd

    try:
        made_of = site.made_of(one, parts)
        if before is not None and before.made_of == made_of and made.is_whole(site.folder, before):
            return before.card, False
        with told_if_absurd():
            return site.make(one, parts, _judged(one), made_of), True
    except NoPictureError:
        raise
    except BakeoffError as error:
        _warn(str(error) + ("; its page stays as it was made before" if before else ""))
        return (before.card if before else None), False


def _judged(one: "PageSource") -> "Undertaken":
    """Judge an undertaking from its records."""
    from bakeoff.acceptance.run import read_outcome
    from bakeoff.judge.comparison import judge_comparison
    from bakeoff.judge.explained import explain
    from bakeoff.judge.search import judge_search
    from bakeoff.judge.study import judge_study

    match one.kind:
        case "study" | "reproduction":
            return judge_study(one.folder)
        case "explanation":
            return explain(one.folder)
        case "search":
            return judge_search(one.folder)
        case "acceptance":
            return read_outcome(one.folder)
    return judge_comparison(one.folder)


def _stem(slug: str) -> tuple[str, bool]:
    """Return a page's name without the digest, which is another one for damaged records, and whether it says why."""
    return slug.removesuffix("-why").rpartition("-")[0], slug.endswith("-why")


def _warn(sentence: str) -> None:
    """Write on stderr what is left out, and why."""
    typer.echo(plain(f"left out: {sentence}"), err=True)
