"""How the vocabulary says what other libraries have a name for, for those who write that name."""

from __future__ import annotations

import difflib

from bakeoff.spec.vocabulary import FUNCTIONS, VOCABULARY
from bakeoff.workloads import synonyms_arrays, synonyms_layers

NUMPY = "NumPy's own arrays go into a model by nn.constant(array) in __init__, and its functions are those of nn"
"""What to do where NumPy is given an array of the model."""

OF_MAPS = {
    "concat": "nn.concat_channels(maps)",
    "split": "nn.split_channels(x, sizes)",
    "pad": "nn.pad2d(x, ((top, bottom), (left, right)))",
    "mean": "nn.global_avg_pool2d(x), over height and width",
    "LayerNorm": "nn.ChannelNorm(channels), over the channels at each place",
    "Linear": "nn.Conv2d(in_channels, out_channels, 1), at each place",
}
"""By a name of the vocabulary that takes no feature maps, what does the same of them."""

_NEAR = 0.8
"""How alike two names are, from 0 to 1, of which one may be meant for the other: by less, what is offered misleads."""


def folded(name: str) -> str:
    """Return a name without what libraries differ in: capitals and underscores."""
    return name.replace("_", "").lower()


SAID_BY: dict[str, str] = synonyms_arrays.SAID_BY | synonyms_layers.SAID_BY
"""By a name of other libraries, what it is here."""

LACKED: dict[str, str] = synonyms_arrays.LACKED | synonyms_layers.LACKED
"""By a name of other libraries what to do, where the vocabulary has nothing for it; empty: nothing comes near."""

_HERE = {folded(name): name for name in VOCABULARY}
_SAID = {folded(name): said for name, said in SAID_BY.items()}
_LACKED = {folded(name): instead for name, instead in LACKED.items()}
_OF_MODULES = {folded(name) for name in synonyms_layers.OF_MODULES}


def said_by(name: str) -> str:
    """Return how the vocabulary says what a name means elsewhere; empty where nothing near is known."""
    key = folded(name)
    if told := _known(key):
        return told
    close = [key] if key in _HERE else difflib.get_close_matches(key, _HERE, n=1, cutoff=_NEAR)
    return f"; did you mean nn.{_HERE[close[0]]}?" if close else ""


def of_attribute(name: str) -> str:
    """Return what stands for an attribute that arrays of other libraries have; empty where nothing near is known."""
    key = folded(name)
    if (here := _HERE.get(key)) in FUNCTIONS:
        return f"; nn.{here} is a function"
    if key in _SAID:
        return f"; {name} is {_SAID[key]}"
    return f"; {_LACKED[key]}" if _LACKED.get(key) else ""


def of_module(name: str) -> str:
    """Return what stands for an attribute that modules of other libraries have; empty for any other name."""
    return _known(folded(name)) if folded(name) in _OF_MODULES else ""


def _known(key: str) -> str:
    """Return what is known of a name of another library; empty where nothing is."""
    if key in _SAID:
        return f": it is {_SAID[key]}"
    if key in _LACKED:
        return ", and nothing in it does that" + (f"; {_LACKED[key]}" if _LACKED[key] else "")
    return ""
