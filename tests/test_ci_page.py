"""docs/ci.md: workflows that can be pasted are YAML with what a workflow has, and commands that bakeoff has."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from bakeoff.cli.app import command

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
WORKFLOWS = [yaml.load(text, yaml.BaseLoader) for text in BLOCKS]  # noqa: S506 - texts alone, so that `on` stays one
STEP = {"name", "uses", "with", "run", "if", "env", "id"}


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every step of a workflow."""
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_there_are_both() -> None:
    """One is for pull requests, the other runs by the clock."""
    assert [workflow["on"] for workflow in WORKFLOWS] == [
        "pull_request",
        {"schedule": [{"cron": "17 3 * * *"}], "workflow_dispatch": {}},
    ]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda workflow: workflow["name"])
def test_a_workflow_has_what_one_needs_and_may_read_alone(workflow: dict[str, Any]) -> None:
    """Keys are those of a workflow; each step uses a pinned action or runs a script; nothing but reading is allowed."""
    assert set(workflow) <= {"name", "on", "permissions", "env", "jobs", "concurrency"}
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert set(job) == {"runs-on", "timeout-minutes", "steps"}
    for step in steps(workflow):
        assert set(step) <= STEP
        assert ("uses" in step) != ("run" in step)
        assert re.fullmatch(r"actions/[\w-]+@v\d+", step.get("uses", "actions/x@v1"))
        # What others write is never pasted into a script: only GitHub's own context stands there, by the environment.
        assert "${{" not in step.get("run", "")


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda workflow: workflow["name"])
def test_every_command_of_a_workflow_is_one(workflow: dict[str, Any]) -> None:
    """Bakeoff has each command with its options, and shells take each script."""
    lines = [line.strip() for step in steps(workflow) for line in step.get("run", "").splitlines()]
    told = [re.split(r" \|\| | >> ", line)[0] for line in lines if line.startswith("bakeoff ")]
    assert len(told) >= 4
    for line in told:
        one, words = command(), shlex.split(line)[1:]
        while getattr(one, "commands", None):
            one = one.commands[words.pop(0)]
        one.make_context("bakeoff", words)
    for step in steps(workflow):
        subprocess.run([shutil.which("sh") or "sh", "-n", "-c", step.get("run", "")], check=True)


@pytest.mark.parametrize(("code", "ended"), [(0, 0), (1, 1), (125, 0), (2, 2)])
def test_only_what_is_slower_or_wrong_fails_the_job(tmp_path: Path, code: int, ended: int) -> None:
    """The step that races passes on bakeoff's exit code, but for that of what cannot be told, which is a warning."""
    script = next(step["run"] for step in steps(WORKFLOWS[0]) if step.get("name") == "Race")
    (tmp_path / "bakeoff").write_text(f"#!/bin/sh\nexit {code}\n")
    (tmp_path / "bakeoff").chmod(0o755)
    shell = [shutil.which("bash") or "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    told = subprocess.run(shell, env={"PATH": path}, capture_output=True, text=True, check=False)
    assert told.returncode == ended
    assert ("::warning::" in told.stdout) is (code == 125)
