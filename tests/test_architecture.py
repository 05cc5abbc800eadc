"""The promises of the tree: what imports what, how small things are, and that links lead somewhere."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from bakeoff.spec.vocabulary import VOCABULARY

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "bakeoff"
FRAMEWORKS = SOURCE / "frameworks"

LONGEST_FUNCTION = 60
LONGEST_FILE = 400

CONVENTIONAL = {
    "numpy": "np",
    "pandas": "pd",
    "polars": "pl",
    "pyarrow": "pa",
    "altair": "alt",
    "mlx.core": "mx",
    "jittor": "jt",
    "tensorflow": "tf",
} | {
    "jax.numpy": "jnp",
    "torch.nn.functional": "F",
}
"""The short names by which everybody knows these modules."""

FROZEN = {
    SOURCE / "workloads" / f"{name}.py"
    for name in (
        *("cnn_apx", "cnn_cifar10", "inceptionv3", "mlp_1024", "mlp_mnist"),
        *("resnet50", "resnet50_cifar10", "vgg16", "vit_b16"),
    )
}
"""Workloads whose files' SHA-256 stands in records: a better docstring would end the --resume of their comparisons."""

TWO_MEANINGS = {"Linear": "a schedule of the learning rate, too: users' model files import it by this name"}
"""Names of classes that stand for two things, each with its reason."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def parsed(path: Path) -> ast.Module:
    """Parse a file once."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def sources() -> list[Path]:
    """Give every file of the package."""
    return sorted(SOURCE.rglob("*.py"))


def functions(path: Path) -> Iterator[Function]:
    """Give every function of a file."""
    return (node for node in ast.walk(parsed(path)) if isinstance(node, Function))


def tracked() -> list[Path]:
    """Give every file that git knows and that is there."""
    told = subprocess.run(["/usr/bin/env", "git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if told.returncode:
        pytest.skip("not a git checkout")
    return [path for name in told.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]


def declarations() -> dict[str, dict[str, object]]:
    """Give every framework's declaration by its folder's name."""
    return {path.parent.name: tomllib.loads(path.read_text()) for path in FRAMEWORKS.glob("*/framework.toml")}


IMPORTED_AS = {"markupsafe": "jinja2", "pynvml": "nvidia-ml-py", "sklearn": "scikit-learn"}
"""What brings a package that has another name than its module; Jinja2 needs markupsafe, whose strings it gives."""


def imported(path: Path) -> Iterator[str]:
    """Give the first name of every module that a file imports."""
    for node in ast.walk(parsed(path)):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        yield from (name.partition(".")[0] for name in names)


def test_what_is_imported_is_declared() -> None:
    """A stranger's pip brings every package that bakeoff's own code imports, by itself or with an extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [one for name, asked in project["optional-dependencies"].items() if name != "test" for one in asked]
    declared = {re.split(r"[<>=]", one)[0] for one in (*project["dependencies"], *extras)}
    found = {name for path in sources() if not path.is_relative_to(FRAMEWORKS) for name in imported(path)}
    others = found - sys.stdlib_module_names - {SOURCE.name}
    assert {name for name in others if IMPORTED_AS.get(name, name) not in declared} == set()


def test_the_parent_loads_no_framework() -> None:
    """`import bakeoff, bakeoff.cli` loads no framework, no NumPy and no module of bakeoff.frameworks."""
    code = "import sys, bakeoff, bakeoff.cli, bakeoff.cli.app; print('\\n'.join(sys.modules))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(told.stdout.splitlines())
    heavy = {str(declared["module"]) for declared in declarations().values()} - {""} | {"numpy", "keras", "flax"}
    assert not loaded & heavy
    assert not [name for name in loaded if name.startswith("bakeoff.frameworks")]


def prose(tree: ast.Module) -> set[int]:
    """Give the identities of strings that no code decides by: docstrings, and a workload's citation of its source."""
    nodes = list(ast.walk(tree))
    alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return alone | {id(node.value) for node in nodes if isinstance(node, ast.keyword) and node.arg == "source"}


def test_no_frameworks_name_stands_outside_its_folder() -> None:
    """Adding a framework edits no file: no string of the code names one, except in its own folder."""
    names = {word for folder, declared in declarations().items() for word in (folder, str(declared["module"])) if word}
    found = []
    for path in sources():
        own = path.relative_to(FRAMEWORKS).parts[0] if path.is_relative_to(FRAMEWORKS) else None
        passed_over = prose(parsed(path))
        for node in ast.walk(parsed(path)):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in passed_over:
                continue
            words = set(re.findall(r"[a-z]+", node.value.lower()))
            found += [f"{path}:{node.lineno}: {word}" for word in words & names if word != own]
    assert not found


def test_frameworks_are_blind_to_each_other() -> None:
    """No framework's folder imports another's."""
    folders = set(declarations())
    found = []
    for path in sources():
        if not path.is_relative_to(FRAMEWORKS) or (own := path.relative_to(FRAMEWORKS).parts[0]) not in folders:
            continue
        for node in ast.walk(parsed(path)):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            others = [
                name for name in names if name.startswith("bakeoff.frameworks.") and name.split(".")[2] in folders
            ]
            found += [f"{path}: {name}" for name in others if name.split(".")[2] != own]
    assert not found


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_code_is_small(path: Path) -> None:
    """A file has at most 400 lines, a function at most 60."""
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= LONGEST_FILE
    for node in functions(path):
        assert (node.end_lineno or node.lineno) - node.lineno < LONGEST_FUNCTION, f"{path}:{node.lineno}: {node.name}"


def reworded() -> list[Path]:
    """Return every file whose language is held; a workload's own file is not, as its bytes are part of every record."""
    return [path for path in sources() if path not in FROZEN]


def test_docstrings_say_return() -> None:
    """A docstring begins with the field's verbs, such as Return, Yield or Raise, and nothing in it is "told"."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    wrong = [
        f"{path.relative_to(SOURCE)}: {text.splitlines()[0]}"
        for path in reworded()
        for node in ast.walk(parsed(path))
        if isinstance(node, documented) and (text := ast.get_docstring(node) or "")
        if re.match(r"(Give|Tell|Say)s?\b", text) or re.search(r"\btold\b", text)
    ]
    assert not wrong


def test_what_returns_nothing_does_not_say_return() -> None:
    """A function that returns None says what it does instead."""
    wrong = [
        f"{path.relative_to(SOURCE)}:{node.lineno}: {node.name}"
        for path in reworded()
        for node in functions(path)
        if isinstance(node.returns, ast.Constant)
        and node.returns.value is None
        and (ast.get_docstring(node) or "").startswith("Return")
    ]
    # "Return when ..." says when a call comes back.
    assert not [name for name in wrong if not name.endswith((": wait", ": _already_there"))]


def test_imports_rename_nothing() -> None:
    """A name means the same in every file: an import renames only what everybody knows by a short name."""
    renamed = []
    for path in reworded():
        for node in ast.walk(parsed(path)):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            start = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            renamed += [
                f"{path.relative_to(SOURCE)}: {start}{alias.name} as {alias.asname}"
                for alias in node.names
                if alias.asname and CONVENTIONAL.get(f"{start}{alias.name}") != alias.asname
            ]
    assert not renamed


def test_a_class_name_means_one_thing() -> None:
    """A public class outside of the frameworks' folders shares its name with no other module's, in or outside of them.

    A name of the vocabulary is one thing in many places: in each framework and, over shapes, in the workloads.
    """
    homes: dict[str, list[str]] = {}
    for path in sources():
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(path.relative_to(SOURCE).as_posix())
    networks = ("workloads/", "frameworks/")
    shared = {
        name: files
        for name, files in homes.items()
        if len(files) > 1
        and not all(file.startswith("frameworks/") for file in files)
        and not (name in VOCABULARY and all(file.startswith(networks) for file in files))
    }
    assert {name: files for name, files in shared.items() if name not in TWO_MEANINGS} == {}
    assert set(TWO_MEANINGS) <= set(shared), "an exception that nothing needs any more"


def named_in(path: Path) -> set[str]:
    """Give the names that a file binds, anywhere in it."""
    names = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, Function | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def test_what_tests_and_benchmarks_import_is_there() -> None:
    """Some of them run seldom: a name that has moved would be missed on another day."""
    missing = []
    for path in (*(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")):
        for node in ast.walk(parsed(path)):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(f"{SOURCE.name}."):
                continue
            home = SOURCE.parent / (node.module or "").replace(".", "/")
            file = home / "__init__.py" if home.is_dir() else home.with_suffix(".py")
            names = named_in(file) | {one.stem for one in home.glob("*")} if file.exists() else set()
            missing += [f"{path}: {node.module}.{one.name}" for one in node.names if one.name not in names]
    assert missing == []


def test_every_test_states_its_promise() -> None:
    """Every test function has a docstring."""
    files = list((ROOT / "tests").rglob("test_*.py"))
    missing = [
        f"{path}:{node.lineno}: {node.name}"
        for path in files
        for node in functions(path)
        if node.name.startswith("test_") and not ast.get_docstring(node)
    ]
    assert len(files) > 1
    assert not missing


def anchors(page: Path) -> set[str]:
    """Give the anchors of a page's headings, as code forges make them."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_every_link_leads_somewhere() -> None:
    """Every relative link in a Markdown page, with its anchor, leads to something that is there."""
    broken = []
    for page in (path for path in tracked() if path.suffix == ".md"):
        for link in re.findall(r"\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)", page.read_text(encoding="utf-8")):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
                broken.append(f"{page.relative_to(ROOT)}: {link}")
    assert not broken


def test_no_address_of_a_registry_is_written_down() -> None:
    """Packages come from wherever the user's own pip is set to: no file of the project names a registry."""
    # Put together here, so that this very file does not hold them.
    hosts = [host.replace("_", ".") for host in ("pypi_org", "files_pythonhosted_org", "download_pytorch_org")]
    options = ["index" + "-url", "--find" + "-links"]
    found = []
    for path in tracked():
        text = path.read_bytes().decode("utf-8", errors="replace")
        found += [f"{path.relative_to(ROOT)}: {word}" for word in (*hosts, *options) if word in text]
    assert not found


def test_the_vocabularys_page_is_current() -> None:
    """docs/vocabulary.md is what spec/vocabulary.py says; `make docs` writes it again."""
    script = "import sys; sys.path.insert(0, 'docs'); import write_vocabulary as w; sys.stdout.write(w.page())"
    told = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout == (ROOT / "docs" / "vocabulary.md").read_text(encoding="utf-8"), "run `make docs`"


def test_the_command_lines_page_is_current() -> None:
    """docs/cli.md is what the commands' own help says; `make docs` writes it again."""
    script = "import sys; sys.path.insert(0, 'docs'); import write_cli; sys.stdout.write(write_cli.page())"
    told = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout == (ROOT / "docs" / "cli.md").read_text(encoding="utf-8"), "run `make docs`"


@pytest.mark.parametrize("name", ["jax", "jittor", "mlx", "tensorflow", "torch"])
def test_a_vocabulary_imports_its_functions_by_name(name: str) -> None:
    """No star hides Python's max and abs, and no function that is listed is left out."""
    module = parsed(FRAMEWORKS / name / "nn.py")
    imports = [node for node in module.body if isinstance(node, ast.ImportFrom)]
    assert not [node.module for node in imports if any(one.name == "*" for one in node.names)]
    theirs = {
        one.name for node in imports if node.module == f"bakeoff.frameworks.{name}.functions" for one in node.names
    }
    lists = [node for node in parsed(FRAMEWORKS / name / "functions.py").body if isinstance(node, ast.Assign)]
    (listed,) = (ast.literal_eval(node.value) for node in lists if ast.unparse(node.targets[0]) == "__all__")
    assert theirs == set(listed)
