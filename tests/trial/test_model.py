from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest

from bakeoff.frameworks.dropping import drops
from bakeoff.frameworks.scopes import vocabulary
from bakeoff.spec.trial import KINDS, Purpose, TrialSpec
from bakeoff.store.files import TRIAL_FILE
from bakeoff.trial.draws import fixed_normal
from bakeoff.trial.model import make_model
from bakeoff.workloads import layers, plan
from bakeoff.workloads.load import load


@pytest.mark.parametrize("purpose", KINDS)
def test_dropout_is_in_all_steps_and_not_in_the_certificate(trial_of: Any, purpose: Purpose) -> None:
    """What is timed, tested or measured drops at the workload's rate; evidence does not: draws are each framework's."""
    rates = {0.0} if purpose in ("reference", "program", "certify") else {0.5}
    written = msgspec.json.decode((trial_of(Path("fake")) / TRIAL_FILE).read_bytes(), type=TrialSpec)
    trial = msgspec.structs.replace(written, workload_path=str(load("vgg16").path), purpose=purpose)
    made = []

    def dropout(rate: float) -> Any:
        made.append(rate)
        return layers.Dropout(rate)

    model = make_model(trial)
    model.build(SimpleNamespace(**vars(plan._VOCABULARY) | {"Dropout": dropout}), model.size)
    assert set(made[-1:]) == rates


def test_what_drops_nothing_in_the_certificate_says_what_it_stands_for(trial_of: Any, tmp_path: Path) -> None:
    """A function that computes otherwise where it drops is certified so; one of rate 0 as where nothing drops."""
    text = Path(load("mlp-mnist").path).read_text()
    path = tmp_path / "dropping.py"
    own = "self.drop = nn.Dropout(0.25); self.none = nn.Dropout(0.0)"
    path.write_text(text.replace("super().__init__()", f"super().__init__(); {own}"))
    written = msgspec.json.decode((trial_of(Path("fake")) / TRIAL_FILE).read_bytes(), type=TrialSpec)
    trial = msgspec.structs.replace(
        written, workload_path=str(path), workload_sha256=load(path).sha256, purpose="certify"
    )
    model = make_model(trial)
    made = model.build(plan._VOCABULARY, model.size)
    assert made.drop.rate == made.none.rate == 0.0
    assert [drops(one, one.rate) for one in (made.drop, made.none)] == [True, False]
    assert not drops(None, 0.0)


def test_a_file_may_keep_what_it_makes_by_nn(trial_of: Any, tmp_path: Path) -> None:
    """Its classes, say: a certificate's vocabulary is the key of a cache, as a framework's module is."""
    path = tmp_path / "kept.py"
    text = Path(load("mlp-mnist").path).read_text()
    kept = "\n\nimport functools\n\n\n@functools.cache\ndef base(nn):\n    return nn.Module\n"
    path.write_text(text.replace("(nn.Module)", "(base(nn))") + kept)
    written = msgspec.json.decode((trial_of(Path("fake")) / TRIAL_FILE).read_bytes(), type=TrialSpec)
    trial = msgspec.structs.replace(
        written, workload_path=str(path), workload_sha256=load(path).sha256, purpose="certify"
    )
    model = make_model(trial)
    assert model.build(vocabulary(plan._VOCABULARY, {}), model.size)


class InNumPy:
    """NumPy's functions under the vocabulary's names, for a model that is run here."""

    Module = object

    @staticmethod
    def constant(array: Any) -> Any:
        """Return it."""
        return array

    @staticmethod
    def in_training(module: Any) -> bool:
        """Return what a test has set."""
        return module.training

    broadcast_to, reshape = staticmethod(np.broadcast_to), staticmethod(np.reshape)


def test_noise_is_the_same_everywhere_in_the_certificate() -> None:
    """What stands for RandomNormal gives the same numbers each time, others in another layer, none in evaluation."""
    first, second, again = (fixed_normal(InNumPy) for _ in range(3))
    one, other, same = first(), first(), again()
    for layer in (one, other, same):
        layer.training = True
    x = np.ones((40, 60))
    assert one.forward(x).shape == x.shape
    assert abs(one.forward(x).std() - 1) < 0.1
    assert (one.forward(x) == same.forward(x)).all()
    assert (one.forward(x) != other.forward(x)).mean() > 0.9
    assert (second().numbers == one.numbers).all()
    one.training = False
    assert not one.forward(x).any()


@pytest.mark.parametrize("purpose", KINDS)
def test_noise_is_in_all_steps_and_not_in_the_certificate(trial_of: Any, purpose: Purpose, tmp_path: Path) -> None:
    """What is timed draws as its framework does; evidence has fixed numbers in the place of draws."""
    text = Path(load("mlp-mnist").path).read_text()
    path = tmp_path / "noisy.py"
    path.write_text(text.replace("super().__init__()", "super().__init__(); self.noise = nn.RandomNormal()"))
    written = msgspec.json.decode((trial_of(Path("fake")) / TRIAL_FILE).read_bytes(), type=TrialSpec)
    trial = msgspec.structs.replace(
        written, workload_path=str(path), workload_sha256=load(path).sha256, purpose=purpose
    )
    model = make_model(trial)
    found = model.build(plan._VOCABULARY, model.size).noise
    assert isinstance(found, layers.RandomNormal) == KINDS[purpose].steps
    assert plan.drops(load(path).build, model.size)


@pytest.mark.parametrize("purpose", ["certify", "time"])
def test_stochastic_depth_is_in_all_steps_and_not_in_the_certificate(
    trial_of: Any, purpose: Purpose, tmp_path: Path
) -> None:
    """What is timed drops samples at the workload's rate; evidence drops none, and a bad rate is refused in both."""
    text = Path(load("mlp-mnist").path).read_text()
    path = tmp_path / "deep.py"
    path.write_text(text.replace("super().__init__()", "super().__init__(); self.drop = nn.StochasticDepth(0.25)"))
    written = msgspec.json.decode((trial_of(Path("fake")) / TRIAL_FILE).read_bytes(), type=TrialSpec)
    trial = msgspec.structs.replace(
        written, workload_path=str(path), workload_sha256=load(path).sha256, purpose=purpose
    )
    model = make_model(trial)
    assert model.build(plan._VOCABULARY, model.size).drop.rate == (0.25 if KINDS[purpose].steps else 0.0)
