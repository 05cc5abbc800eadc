from __future__ import annotations

import msgspec
import pytest

from bakeoff.environments.declared import frameworks
from bakeoff.environments.options import supported
from bakeoff.environments.tiers import Preset, expanded, preset
from bakeoff.spec.contender import Contender, parse_contender, parse_contenders
from bakeoff.spec.errors import UnknownNameError, UsageError
from bakeoff.spec.framework import BestSetting, FrameworkInfo, OptionSupport


def setting(option: str, value: str, *devices: str) -> BestSetting:
    """Make a setting of the tier best."""
    return BestSetting(option=option, value=value, reason="it is faster", source="its documents", devices=devices)


INFO = FrameworkInfo(
    name="tiny",
    title="Tiny",
    module="",
    distributions=(),
    options={
        "mode": OptionSupport(default="eager", values=("eager", "compiled")),
        "layout": OptionSupport(default="nchw", values=("nchw", "nhwc")),
        "device": OptionSupport(default="cpu", values=("cpu", "cuda")),
        "threads": OptionSupport(default="all"),
    },
    best=(setting("mode", "compiled"), setting("layout", "nhwc", "cuda")),
)


def labels(texts: list[str], *tiers: str) -> dict[str, str]:
    """Expand contenders; give the tier that each of them names, by label."""
    return {one.label: one.options.get("tier", "") for one in expanded(parse_contenders(texts), tiers)}


def best_of(text: str, info: FrameworkInfo = INFO, **defaults: str) -> Preset:
    """Give the preset of a contender on a machine with 2 usable processors."""
    return preset(info, parse_contender(text), defaults, 2)


def test_every_contender_races_in_every_tier() -> None:
    """Several tiers give each contender once in each, told apart by the label."""
    assert labels(["torch", "jax"], "matched", "best") == {
        "torch (matched)": "matched",
        "jax (matched)": "matched",
        "torch (best)": "best",
        "jax (best)": "best",
    }


@pytest.mark.parametrize("tiers", [(), ("matched",)])
def test_the_default_tier_needs_no_name(tiers: tuple[str, ...]) -> None:
    """Where matched is the only tier, labels and options are what the user wrote."""
    assert labels(["torch", "torch"], *tiers) == {"torch": "", "torch (2)": ""}


def test_one_that_names_its_tier_races_once() -> None:
    """A contender's own option wins over --tier, and it is not multiplied."""
    assert labels(["torch:tier=native", "jax"], "matched", "best") == {
        "torch:tier=native": "native",
        "jax (matched)": "matched",
        "jax (best)": "best",
    }


def test_an_unknown_tier_lists_the_valid_ones() -> None:
    """A misspelt tier is an error that lists those that there are."""
    with pytest.raises(UnknownNameError, match=r"'nativ'.*did you mean 'native'.*matched"):
        labels(["torch"], "nativ")


def test_best_sets_what_is_declared_for_the_device() -> None:
    """A setting for another device is left out with the reason, the others are in force."""
    found = best_of("tiny:tier=best")
    assert found.options == {"mode": "compiled"}
    assert found.left == {"layout=nhwc": "it is for cuda, and the device is cpu"}
    assert best_of("tiny:tier=best,device=cuda").options == {"mode": "compiled", "layout": "nhwc"}
    assert best_of("tiny:tier=best", device="cuda").options == {"mode": "compiled", "layout": "nhwc"}


@pytest.mark.parametrize(
    ("text", "defaults"), [("tiny:tier=best,mode=eager", {}), ("tiny:tier=best", {"mode": "eager"})]
)
def test_the_user_s_word_wins(text: str, defaults: dict[str, str]) -> None:
    """What is asked of the contender, or of all, is not overridden by the preset, and that is told."""
    found = best_of(text, **defaults)
    assert found.options == {}
    assert found.left["mode=compiled"] == "mode=eager was asked for"


def test_a_setting_for_other_optimisers_is_told() -> None:
    """A setting that the workload's optimiser cannot have is left out with the reason."""
    wanted = msgspec.structs.replace(setting("mode", "compiled"), optimizers=("SGD", "Adam"))
    info = msgspec.structs.replace(INFO, best=(wanted,))
    contender = parse_contender("tiny:tier=best")
    assert preset(info, contender, {}, 2, "Adam").options == {"mode": "compiled"}
    left = preset(info, contender, {}, 2, "RMSprop").left
    assert left == {"mode=compiled": "it is for SGD, Adam, and the optimiser is RMSprop"}


def test_what_the_framework_lacks_is_told() -> None:
    """A setting whose option or value is not there is left out with the framework's own reason."""
    info = msgspec.structs.replace(INFO, best=(setting("mode", "graph"), setting("fusing", "on")))
    found = best_of("tiny:tier=best", info)
    assert found.options == {}
    assert "Tiny does not have mode=graph; possible: eager, compiled" in found.left["mode=graph"]
    assert "'fusing'" in found.left["fusing=on"]


@pytest.mark.parametrize("tier", ["matched", "native"])
def test_other_tiers_set_nothing(tier: str) -> None:
    """Only best has a preset."""
    assert best_of(f"tiny:tier={tier}") == Preset()


@pytest.mark.parametrize("name", [name for name, one in frameworks().items() if one.info.listed])
def test_the_shipped_presets_hold(name: str) -> None:
    """Every setting of a shipped framework has a reason, a document, an option and a value that the framework has."""
    info = frameworks()[name].info
    for one in info.best:
        assert one.value in supported(info)[one.option].values, one.option
        assert one.reason
        assert one.source
        assert set(one.devices) <= set(info.options["device"].values)
    for device in info.options["device"].values:
        wanted = {one.option for one in info.best if not one.devices or device in one.devices}
        contender = Contender(framework=name, label=name, options={"tier": "best", "device": device})
        assert set(preset(info, contender, {}, 2).options) == wanted


def test_the_fastest_pytorch_on_a_gpu_records_cuda_graphs() -> None:
    """As XLA does by itself; on a processor that is left out, with the reason, and whoever asks for it is refused."""
    torch = frameworks()["torch"].info
    assert best_of("torch:tier=best,device=cuda", torch).options["compile_mode"] == "reduce-overhead"
    assert "it is for cuda" in best_of("torch:tier=best", torch).left["compile_mode=reduce-overhead"]
    for options, reason in {
        "mode=compiled": "it needs device=cuda",
        "device=cuda": "it needs mode=compiled",
        "device=cuda,mode=compiled,graph_optimization=off": "it needs graph_optimization=on",
    }.items():
        with pytest.raises(UsageError, match=reason):
            best_of(f"torch:compile_mode=max-autotune,{options}", torch)
