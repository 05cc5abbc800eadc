"""Random numbers of Python's or NumPy's in a model or a loss are refused before any framework starts, with the line."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_interpreter import VECTOR, checked, write

from bakeoff.spec.errors import ModelFileError

HEAD = "self.head = nn.Linear(6, 5)"
LOSS = "return nn.cross_entropy(outputs, targets)"

REFUSED = {
    "in forward": (
        "import random",
        HEAD,
        "return self.head(x) * random.random()",
        LOSS,
        20,
        "random.random",
        "forward",
    ),
    "of NumPy's": (
        "import numpy as np",
        HEAD,
        "return self.head(x) + float(np.random.normal())",
        LOSS,
        20,
        "numpy.random.normal",
        "forward",
    ),
    "in __init__": (
        "import numpy",
        f"{HEAD}; self.a = nn.constant(numpy.random.rand(6))",
        "return self.head(x * self.a)",
        LOSS,
        17,
        "numpy.random.rand",
        "__init__",
    ),
    "in the loss": (
        "from random import gauss as g",
        HEAD,
        "return self.head(x)",
        f"a = g(0, 1); {LOSS}",
        26,
        "random.gauss",
        "loss",
    ),
    "by an import of its own": (
        "",
        HEAD,
        "from numpy import random as r; return self.head(x) * r.uniform()",
        LOSS,
        20,
        "numpy.random.uniform",
        "forward",
    ),
    "in a function that forward calls": (
        "import random\ndef noise(): return random.gauss(0, 1)",
        HEAD,
        "return self.head(x) + noise()",
        LOSS,
        2,
        "random.gauss",
        "noise",
    ),
    "without a seed": (
        "import numpy",
        f"{HEAD}; self.a = nn.constant(numpy.random.default_rng().normal(size=6))",
        "return self.head(x * self.a)",
        LOSS,
        17,
        "numpy.random.default_rng",
        "__init__",
    ),
    "at the top of the file": (
        "import numpy\nTABLE = numpy.random.rand(6)",
        f"{HEAD}; self.a = nn.constant(TABLE)",
        "return self.head(x * self.a)",
        LOSS,
        2,
        "numpy.random.rand",
        "",
    ),
    "at the top of the file, by a function there": (
        "import random; noise = lambda: random.gauss(0, 1)\nSCALE = noise(); TWICE = 2 * SCALE",
        HEAD,
        "return self.head(x) * TWICE",
        LOSS,
        1,
        "random.gauss",
        "the model",
    ),
    "in a class of the file that is not called": (
        "import random\nclass Fixed: scale = random.random()",
        HEAD,
        "return self.head(x) * Fixed.scale",
        LOSS,
        2,
        "random.random",
        "",
    ),
    "with None as its seed": (
        "import numpy",
        HEAD,
        "return self.head(x) * numpy.random.RandomState(seed=None).rand()",
        LOSS,
        20,
        "numpy.random.RandomState",
        "forward",
    ),
}


def _written(folder: Path, top: str, layers: str, forward: str, loss: str) -> Path:
    """Write a user's workload that begins with two lines of its own."""
    path = write(folder, VECTOR, layers, forward, loss)
    path.write_text(f"{top}{chr(10) * (2 - top.count(chr(10)))}{path.read_text()}")
    return path


@pytest.mark.parametrize("case", REFUSED)
def test_a_draw_in_a_model_or_its_loss_is_refused(case: str, tmp_path: Path) -> None:
    """With the line, what draws, and what draws in its place."""
    *parts, line, name, function = REFUSED[case]
    path = _written(tmp_path, *parts)
    with pytest.raises(ModelFileError) as refused:
        checked(path)
    place = f"in {function}" if function else "at the top of the file"
    assert str(refused.value).startswith(f"{path}:{line}: {name} draws {place}: each framework would")
    assert "nn.RandomNormal() and nn.Dropout(rate) draw" in str(refused.value)


SAME_EACH_TIME = {
    "a seed where it is drawn": (
        "import numpy",
        f"{HEAD}; self.a = nn.constant(numpy.random.RandomState(0).standard_normal(6))",
        "return self.head(x * self.a)",
    ),
    "a seed in the same function": (
        "import numpy",
        f"{HEAD}; g = numpy.random.default_rng(seed=3); self.a = nn.constant(g.normal(size=6))",
        "return self.head(x * self.a)",
    ),
    "at the top of the file, with a seed": (
        "import numpy\nTABLE = numpy.random.default_rng(0).normal(size=6)",
        f"{HEAD}; self.a = nn.constant(TABLE)",
        "return self.head(x * self.a)",
    ),
    "at the top of the file, where a seed is set": (
        "import random; numpy = __import__('numpy'); random.seed(0)\nSCALE = random.random()",
        HEAD,
        "return self.head(x) * SCALE",
    ),
    "at the top of the file, for its data alone": (
        "import numpy; TABLE = numpy.random.rand(6)\ndef data(size, samples, seed): return {'x': TABLE}",
        HEAD,
        "TABLE = self.head(x); return TABLE",
    ),
    "in data, and a variable of that name": (
        "import numpy\ndef data(size, samples, seed): return {'x': numpy.random.rand(samples, 6)}",
        HEAD,
        "data = self.head(x); return data",
    ),
    "another thing of the name that a generator has elsewhere": (
        "import numpy\ndef data(size, samples, seed): g = numpy.random.RandomState(seed); return {'x': g.rand(6)}",
        HEAD,
        "g = {'x': x}; return self.head(g.get('x'))",
    ),
    "a seed of the library's own generator": (
        "import numpy",
        f"{HEAD}; numpy.random.seed(0); self.a = nn.constant(numpy.random.rand(6))",
        "return self.head(x * self.a)",
    ),
    "a generator that a function beside it draws from": (
        "import numpy",
        f"{HEAD}; g = numpy.random.default_rng(0); table = lambda n: g.normal(size=n); self.a = nn.constant(table(6))",
        "return self.head(x * self.a)",
    ),
    "an import within data, and a variable of that name": (
        "def data(size, samples, seed):\n    import random; return {'x': random.random()}",
        HEAD,
        "random = x; return self.head(random.reshape(8, 6) if False else random)",
    ),
    "a function of the file that data calls, and a variable of that name": (
        "import numpy\ndef noise(n): return numpy.random.rand(n)",
        HEAD,
        "noise = self.head(x); return noise",
    ),
    "another thing called random": ("random = 2.0", HEAD, "return self.head(x) * random"),
}


@pytest.mark.parametrize("case", SAME_EACH_TIME)
def test_what_comes_out_the_same_each_time_passes(case: str, tmp_path: Path) -> None:
    """And so does what runs outside of the model."""
    checked(_written(tmp_path, *SAME_EACH_TIME[case], LOSS))


def test_a_generator_of_build_may_fill_what_is_made_there(tmp_path: Path) -> None:
    """Each build begins it anew."""
    path = _written(tmp_path, "import numpy", f"{HEAD}; self.a = nn.constant(g.random(6))", "return self.head(x)", LOSS)
    path.write_text(path.read_text().replace("    class Model", "    g = numpy.random.default_rng(0)\n    class Model"))
    checked(path)


def test_all_draws_are_told_at_once(tmp_path: Path) -> None:
    """A line for each."""
    path = _written(
        tmp_path, "import random", HEAD, "return self.head(x) * random.random()", f"random.gauss(0, 1); {LOSS}"
    )
    with pytest.raises(ModelFileError) as refused:
        checked(path)
    assert [line.split(": ")[1] for line in str(refused.value).splitlines()] == [
        "random.random draws in forward",
        "random.gauss draws in loss",
    ]


def test_a_draw_in_another_file_that_has_the_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the line of that file."""
    monkeypatch.syspath_prepend(tmp_path)
    path = _written(tmp_path, "import random", HEAD, "return self.head(x) * random.random()", LOSS)
    other = path.rename(tmp_path / "model_that_draws.py")
    path.write_text("from model_that_draws import WORKLOAD, build, loss")
    with pytest.raises(ModelFileError) as refused:
        checked(path)
    assert str(refused.value).startswith(f"{other}:20: random.random draws in forward: ")


HELPERS = {
    "of Python's": ("import random\n\ndef noise():\n    return random.gauss(0, 1)\n", "random"),
    "of NumPy's": ("import numpy\n\ndef noise():\n    return float(numpy.random.rand())\n", "numpy.random"),
    "of both": (
        "import numpy, random\n\ndef noise():\n    return random.random() + float(numpy.random.rand())\n",
        "random and numpy.random",
    ),
}


@pytest.mark.parametrize("case", HELPERS)
@pytest.mark.parametrize("where", ["forward", "loss"])
def test_a_draw_in_a_module_that_the_model_calls_is_refused(
    case: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what has become of the library's own generator."""
    text, name = HELPERS[case]
    monkeypatch.syspath_prepend(tmp_path)
    module = f"helper_{where}_{list(HELPERS).index(case)}"
    (tmp_path / f"{module}.py").write_text(text)
    forward, loss = ("self.head(x) + noise()", LOSS) if where == "forward" else ("self.head(x)", f"noise(); {LOSS}")
    path = _written(tmp_path, f"from {module} import noise", HEAD, f"return {forward}", loss)
    with pytest.raises(ModelFileError) as refused:
        checked(path)
    said = f"{path}: build, forward or loss, or what they call, draws by {name}: each framework would"
    assert str(refused.value).startswith(said)


def test_a_module_that_sets_a_seed_first_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It draws the same each time."""
    monkeypatch.syspath_prepend(tmp_path)
    text = "import numpy\n\ndef table():\n    numpy.random.seed(3)\n    return numpy.random.rand(6)\n"
    (tmp_path / "helper_with_a_seed.py").write_text(text)
    layers = f"{HEAD}; self.a = nn.constant(table())"
    checked(_written(tmp_path, "from helper_with_a_seed import table", layers, "return self.head(x * self.a)", LOSS))
