"""Write docs/vocabulary.md from the vocabulary itself; `make docs`, and a test holds the two together."""

from __future__ import annotations

from pathlib import Path

from bakeoff.spec import vocabulary

PAGE = Path(__file__).with_name("vocabulary.md")

HEAD = """# The vocabulary

Every name of `nn`, in which [a model is written](own-model.md), with its one meaning. Each framework supplies them in
its own classes and functions, and the tests hold values, gradients and running statistics of every one against NumPy in
float64. Written from [spec/vocabulary.py](../src/bakeoff/spec/vocabulary.py) by `make docs`.
"""

SECTIONS = {
    "Layers, made once, in `__init__`": vocabulary.LAYERS,
    "Functions, in `forward` and in `loss`": vocabulary.FUNCTIONS,
    "Losses": vocabulary.LOSSES,
}


def page() -> str:
    """Return the whole page."""
    _, layout, canonical, *said = (vocabulary.__doc__ or "").split("\n\n")
    parts = [HEAD]
    for title, names in SECTIONS.items():
        parts += [f"## {title}\n", *(_line(name, text) for name, text in names.items()), ""]
    parts += ["## What holds for all\n", layout, f"\n```text\n{canonical}\n```\n", "\n\n".join(said).strip(), ""]
    return "\n".join(parts)


def _line(name: str, text: str) -> str:
    """Return a list's item: the name with its arguments, and what it means."""
    depth, end = 0, 0
    for place, letter in enumerate(text if text.startswith(f"{name}(") else ""):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == ")" and not depth:
            end = place + 1
            break
    return f"- `{text[:end]}`{_escaped(text[end:])}" if end else f"- `{name}`: {_escaped(text)}"


def _escaped(text: str) -> str:
    """Return a text whose stars and underscores are no emphasis."""
    return text.replace("*", r"\*").replace("_", r"\_")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
