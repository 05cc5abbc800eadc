"""What is left out of reports that leave this machine, and what stays."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.report.search.conftest import attempt, found, search

from bakeoff.acceptance.redacted import Redactor, sharing_redactor
from bakeoff.judge.comparison import judge_comparison
from bakeoff.judge.explanation import Cause, ContenderProfile, Explanation, Gap
from bakeoff.judge.study import PointOutcome, StudyOutcome
from bakeoff.report.forms.html import to_html
from bakeoff.report.forms.json import to_json
from bakeoff.report.forms.markdown import to_markdown
from bakeoff.report.pages import page_of
from bakeoff.report.redacted import Redaction, redacted, redacted_command
from bakeoff.spec.request import Request
from bakeoff.spec.study import Point, Study

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome

RECORD = Path(__file__).parents[1] / "records/mlp-mnist-fada"

KEYS = (
    "hf_AbCdEfGhIjKlMnOpQrSt",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "0123456789abcdef0123456789abcdef01234567",
    "sk-proj-0123456789abcdef0123",
    "AKIAIOSFODNN7EXAMPLE0",
)
"""Invented, of the forms that their issuers give them."""


@pytest.fixture(autouse=True)
def _alice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have Alice run this, with a secret and without."""
    monkeypatch.setenv("USER", "alice")
    monkeypatch.setenv("HOSTNAME", "alicesbox.example.org")
    monkeypatch.setenv("THEIR_API_KEY", "hunter2-hunter2")
    monkeypatch.setenv("WORKLOAD", "mlp-mnist")


@pytest.fixture(scope="module")
def judged() -> Outcome:
    """Return an outcome with the names of a person, a machine, folders and keys wherever they may stand."""
    outcome = judge_comparison(RECORD)
    first, second, *_ = outcome.contenders
    labels = {
        first.label: "one@/home/alice/a/bin/python",
        second.label: "one@/home/alice/b/bin/python",
    }
    content = msgspec.json.encode(outcome).decode()
    for label, named in labels.items():
        content = content.replace(f'"{label}"', f'"{named}"')
    outcome = msgspec.json.decode(content, type=type(outcome))
    command = f"bakeoff run /home/alice/secret-project/mine.py --seed 7 --api-key hunter --note {KEYS[1]} --tokens 512"
    comparison = msgspec.structs.replace(
        outcome.comparison,
        command=command,
        notices=["alice@example.org on alicesbox reads /home/alice/secret-project/x.csv with hunter2-hunter2"],
        workload_path="/home/alice/secret-project/mine.py",
    )
    third = msgspec.structs.replace(
        outcome.contenders[-1],
        status="failed",
        reason="no file /home/alice/x.py\nTraceback of alice:\n  a log with what nobody foresaw",
        inherited={"LD_LIBRARY_PATH": "/home/alice/lib"},
    )
    contenders = [*outcome.contenders[:-1], third]
    return msgspec.structs.replace(
        outcome, comparison=comparison, contenders=contenders, path="/home/alice/secret-project/results/mlp-mnist-fada"
    )


def test_no_form_of_a_report_holds_what_is_nobodys_business(judged: Outcome, tmp_path: Path) -> None:
    """Neither names of people, machines and folders, nor keys, nor a worker's output: in text, JSON and HTML."""
    page = page_of(redacted(judged))
    whole = "\n".join((to_markdown([page]), to_json([page]), to_html([page], tmp_path)))
    for word in ("alice", "secret-project", "/home", "hunter", KEYS[1], "Traceback", "foresaw", str(tmp_path)):
        assert word not in whole, word
    assert "--tokens 512" in whole
    assert "no file <path>/x.py" in whole


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """Whatever a worker may have said, and a command."""

    reason: str
    detail: str
    found: str
    lost_rounds: dict[str, str]
    command: str


def test_of_all_that_workers_say_the_first_line_is_left() -> None:
    """Wherever it stands, also by round; and a command's key of nobody's form goes from an outcome, too."""
    said = dict.fromkeys(("reason", "detail", "found"), "it failed\nthe end of a log")
    told = Said(**said, lost_rounds={"3": "it was lost\nthe end of a log"}, command="run --note aB3dE6gH9jK2mN5pQ8sT")
    shown = redacted(told)
    assert {shown.reason, shown.detail, shown.found} == {"it failed"}
    assert shown.lost_rounds == {"3": "it was lost"}
    assert shown.command == "run --note <value>"


def test_contenders_keep_names_of_their_own(judged: Outcome) -> None:
    """Two that differ in their folders alone are numbered, in every verdict as well."""
    shown = redacted(judged)
    labels = [one.label for one in shown.contenders]
    assert labels[:2] == ["one@<path>/python", "one@<path>/python (2)"]
    assert {one.first for one in shown.verdicts} | {one.second for one in shown.verdicts} <= set(labels)
    assert [one.plan.contender.label for one in shown.contenders] == labels


def test_everything_that_is_judged_stays(judged: Outcome) -> None:
    """Numbers, verdicts, checks and settings are those of the records; with nothing to leave out all is the same."""
    shown, outcome = redacted(judged), judge_comparison(RECORD)
    for before, after in zip(judged.verdicts, shown.verdicts, strict=True):
        assert msgspec.structs.replace(after, first=before.first, second=before.second) == before
    for before, after in zip(judged.contenders, shown.contenders, strict=True):
        assert (after.status, after.step_s, after.blocks, after.memory) == (
            before.status,
            before.step_s,
            before.blocks,
            before.memory,
        )
    nothing = Redactor({})
    pages = [page_of(one).data for one in (redacted(outcome, nothing), outcome)]
    del pages[0]["comparison"]["path"], pages[1]["comparison"]["path"]
    assert pages[0] == pages[1]


@pytest.mark.parametrize("name", ["equal", "ranked", "train", "timed"])
def test_a_name_that_is_a_word_of_records_spoils_none(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody's name may be a word that a field must have: fields with a few words of bakeoff's own keep them."""
    monkeypatch.setenv("USER", name)
    outcome = judge_comparison(RECORD)
    shown = redacted(outcome)
    assert [one.verdict for one in shown.verdicts] == [one.verdict for one in outcome.verdicts]
    assert [one.status for one in shown.contenders] == [one.status for one in outcome.contenders]
    assert shown.comparison.scenario == outcome.comparison.scenario
    page_of(shown)


@pytest.mark.parametrize("key", KEYS)
def test_keys_are_known_by_their_form(key: str) -> None:
    """Wherever one stands, nothing of it is left."""
    assert sharing_redactor().text(f"failed with {key}, twice: x={key}") == "failed with <value>, twice: x=<value>"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("--api-key abc --seed 7", "--api-key <value> --seed 7"),
        ("--password='a b c' --tokens 512", "--password=<value> --tokens 512"),
        ("HF_TOKEN=abc bakeoff run", "HF_TOKEN=<value> bakeoff run"),
        ("--note aB3dE6gH9jK2mN5pQ8sT", "--note <value>"),
        ("--data imdb:/data/imdb", "--data imdb:<path>"),
        # As shlex.join writes a word with a space, with a quote, or with both.
        ("'--password=a b c' --seed 7", "--password=<value> --seed 7"),
        ("""--password 'a'"'"'b c' --seed 7""", "--password <value> --seed 7"),
        ("'HF_TOKEN=a b' bakeoff run", "HF_TOKEN=<value> bakeoff run"),
        ("--note 'Authorization: Bearer a-b' x", "--note 'Authorization: Bearer <value>' x"),
        (
            "--API_KEY abc --auth def --no-auth-x --pat=ghi",
            "--API_KEY <value> --auth <value> --no-auth-x --pat=<value>",
        ),
        ("--seed 7 --key", "--seed 7 --key"),
        ("--key --seed 7", "--key --seed 7"),
        ("--data https://example.org/x?token=abc&n=1", "--data 'https://example.org/x?token=<value>'"),
        ("--note wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "--note <value>"),
        ("--note 123e4567-e89b-12d3-a456-426614174000", "--note <value>"),
        ("run '/data/my project/mine.py' --html '~/a b/x y'", "run <path>/mine.py --html <path>"),
        ("run secret/project/mine.py --data hf:org/name", "run <path>/mine.py --data hf:org/name"),
        ("run 'mine.py", "run 'mine.py"),
        ("--data https://me:pw@example.org/x", "--data https://<address><path>"),
        (
            "bakeoff run mlp-mnist torch:mode=compiled,precision=bfloat16 --batch-size 8,16 --budget 5m",
            "bakeoff run mlp-mnist torch:mode=compiled,precision=bfloat16 --batch-size 8,16 --budget 5m",
        ),
    ],
)
def test_values_of_a_command_that_look_like_keys_go(text: str, left: str) -> None:
    """By the name of their option, by their form, or because no option has such a value; all others stay."""
    assert redacted_command(text, Redactor({})) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("alice_x, alices, r01-ALICE, malice", "user_x, alices, r01-user, malice"),
        ("alice.py of alicesbox.lan.example.org.", "user.py of host."),
        ("{'api_key': 'abc', \"token\": \"d e\"}", "{'api_key': <value>, \"token\": <value>}"),
        ("Authorization: Basic YWxpY2U6aHVudGVyMg==", "Authorization: Basic <value>"),
        ("""it ran x --password 'a'"'"'b c' --seed 7""", "it ran x --password <value> --seed 7"),
        (
            "SSH_KEY=abc DB_PASS=d X_CREDENTIALS='e f' KEYS=3",
            "SSH_KEY=<value> DB_PASS=<value> X_CREDENTIALS=<value> KEYS=3",
        ),
        ("no such file: '/data/my project/x y.csv'", "no such file: '<path>'"),
        ('no such file: "/data/my project/x.csv"', 'no such file: "<path>/x.csv"'),
        ("sqlite:////data/secret/x.db of ~bob/secret", "sqlite:<path>/x.db of <path>"),
        ("/data/a#1/b%20c/d!e/x.py", "<path>/x.py"),
        ("a token: 512 tokens=512, keys=3, tokenizer=bpe", "a token: 512 tokens=512, keys=3, tokenizer=bpe"),
        ("batch/s of 1/2 and <path>/x.py", "batch/s of 1/2 and <path>/x.py"),
    ],
)
def test_names_folders_and_keys_are_known_in_any_text(text: str, left: str) -> None:
    """A name as a part of a word that a dash or an underscore ends, a host with its domain, a path in quotes."""
    assert sharing_redactor().text(text) == left


def test_secret_variables_are_known_by_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever they are called before and behind it; other variables' values are words of reports."""
    secret = ("WANDB_API_KEY", "MYAPIKEY", "HFTOKEN", "GITHUB_PAT", "DB_PASSWD", "X_CREDENTIALS_2", "AWS_SECRET_ACCESS")
    others = ("TOKENIZERS_PARALLELISM", "KEYBOARD_LAYOUT", "PATH_TO", "COMPASS", "AUTHOR")
    for number, name in enumerate((*secret, *others)):
        monkeypatch.setenv(name, f"the value {number}.")
    text = sharing_redactor().text(" ".join(f"the value {number}." for number in range(12)))
    assert text == " ".join(["<value>"] * 7 + [f"the value {number}." for number in range(7, 12)])


def test_ordinary_words_of_the_environment_stay() -> None:
    """Values of variables that are no secret, and names that come with every system, are words of reports."""
    text = f"alice on alicesbox and {socket.gethostname()}: hunter2-hunter2, mlp-mnist, {Path.home()}/x/y.py, the root"
    left = sharing_redactor().text(text)
    assert left.startswith("user on host and ")
    assert left.endswith(": <value>, mlp-mnist, <path>/y.py, the root")


def test_of_variables_secrets_and_folders_are_left_out(judged: Outcome) -> None:
    """By their names, however short the value is; of a list of folders, which may have spaces, what is no folder."""
    variables = {"X_TOKEN": "7", "LD_PATH": "/a b/lib:/c d/x.so", "DEVICE": "/device:GPU", "OTHER": "7"}
    first = msgspec.structs.replace(judged.contenders[0], inherited=variables)
    shown = redacted(first).inherited
    assert shown == {"X_TOKEN": "<value>", "LD_PATH": "<path>:<path>/x.so", "DEVICE": "<path>:GPU", "OTHER": "7"}


def test_variables_in_a_file_of_json_are_left_out_as_those_of_an_outcome(judged: Outcome) -> None:
    """Copied records hold no more than a report does: of a secret variable nothing, of folders with spaces nothing."""
    variables = {"X_TOKEN": "7", "LD_PATH": "/a b/lib:/c d/x.so", "OTHER": "7"}
    shown = Redaction(Redactor({}), judged).json({"inherited": variables, "rounds": 7})
    expected = {"X_TOKEN": "<value>", "LD_PATH": "<path>:<path>/x.so", "OTHER": "7"}
    assert shown == {"inherited": expected, "rounds": 7}


def test_a_study_is_redacted_whole(judged: Outcome) -> None:
    """Every comparison of it, what was asked for, and what it says itself."""
    request = Request(workload="/home/alice/mine.py", contenders=("one@/home/alice/a/bin/python",))
    point = Point(title="at alicesbox", coordinates={"batch size": "32"}, request=request)
    study = Study(name="mine", title="by alice", points=[point], command="bakeoff run /home/alice/mine.py --token abc")
    outcome = StudyOutcome(
        study=study,
        id="mine-0001",
        path="/home/alice/results/mine-0001",
        created_at=judged.comparison.created_at,
        bakeoff="0.1.0",
        points=[PointOutcome(point=point, outcome=judged)],
    )
    page = page_of(redacted(outcome))
    whole = to_markdown([page]) + to_json([page])
    assert "alice" not in whole
    assert "bakeoff run <path>/mine.py --token <value>" in whole


def test_a_search_is_redacted_whole() -> None:
    """The search for the largest batch keeps its contenders apart, too."""
    attempts = [attempt(32, 100), attempt(64, None, fits=False)]
    labels = ("one@/home/alice/a/bin/python", "one@/home/alice/b/bin/python")
    outcome = search([found(label, attempts, "found") for label in labels], path="/home/alice/results/x")
    shown = redacted(outcome)
    assert [one.label for one in shown.found] == ["one@<path>/python", "one@<path>/python (2)"]
    assert [one.largest for one in shown.found] == [32, 32]
    page = page_of(shown)
    assert "alice" not in to_markdown([page]) + to_json([page])


def test_an_explanation_is_redacted_whole(judged: Outcome) -> None:
    """Its contenders keep the names of their own that they have in its comparison, in gaps, causes and sentences."""
    first, second = (one.label for one in judged.contenders[:2])
    traced = ContenderProfile(label=first, level="kinds", rounds=5, step_s=1e-3, files=["/home/alice/r/trace.json"])
    gap = Gap(first=first, second=second, first_s=1e-3, second_s=2e-3, by_kind=[])
    cause = Cause(label=second, name="page faults", said=f"{second}: 900 page faults a step.", against=[first])
    shown = redacted(Explanation(outcome=judged, profiles=[traced], gaps=[gap], causes=[cause]))
    one, other = "one@<path>/python", "one@<path>/python (2)"
    assert [plan.label for plan in shown.outcome.contenders[:2]] == [one, other]
    assert (shown.gaps[0].first, shown.gaps[0].second) == (one, other)
    assert (shown.causes[0].said, shown.causes[0].against) == (f"{other}: 900 page faults a step.", [one])
    assert "alice" not in msgspec.json.encode(shown).decode()
