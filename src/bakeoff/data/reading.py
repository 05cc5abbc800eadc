"""What sources of real data have in common: optional libraries, folders, data sets by name, and what fails of them."""

from __future__ import annotations

import fnmatch
import importlib
import os
from pathlib import Path
from typing import Any

from bakeoff.spec.bounded import at_home
from bakeoff.spec.errors import UsageError

MOST_FOLDERS = 20_000
"""LibriSpeech has the most: one for each chapter of each speaker, some 8,000 in all of its parts."""

PARQUET_DEPTH = 2
"""Hugging Face's own data sets have their files in a folder for each configuration, some with one for each split."""

_SPLIT_NAMES = ("train", "validation", "valid", "dev", "test", "unsupervised", "data")
"""What folders of splits are called, or begin with; and of all files, in many data sets of one configuration."""

_SPLITS, _SPLIT = "dataset_dict.json", "state.json"
"""What `datasets` writes beside several splits, and beside the files of one."""


def library(name: str, what: str) -> Any:
    """Return a module of the extra `data`; raise UsageError, which says how to install it.

    `what` names the data that need it.
    """
    try:
        return importlib.import_module(name)
    except (ImportError, OSError) as error:  # soundfile raises OSError where the system's library is missing
        msg = f"{what} needs the extra 'data' ({name}: {error}): pip install 'bakeoff[data]'. Or use another source"
        raise UsageError(msg) from error


def existing(source: str, location: str) -> Path:
    """Return the folder or file of a location; raise UsageError where there is none."""
    path = at_home(location)
    if not path.exists():
        msg = f"{source}:{location}: there is no such folder or file"
        raise UsageError(msg)
    return path


def files_below(folder: Path, pattern: str, *, depth: int) -> list[Path]:
    """Return the files of this name in a folder and so many levels below it, in order; links are not followed.

    Raises UsageError for a folder of more folders than any data set has, instead of walking on.
    """
    found: list[Path] = []
    for count, (here, folders, files) in enumerate(os.walk(folder)):
        if count >= MOST_FOLDERS:
            msg = (
                f"{folder} has more than {MOST_FOLDERS:,} folders, and no data set has so many; name the folder that "
                f"holds the data itself, with {pattern} at most {depth} levels below it"
            )
            raise UsageError(msg)
        found += [Path(here, name) for name in fnmatch.filter(files, pattern)]
        if len(Path(here).relative_to(folder).parts) >= depth:
            folders.clear()
    return sorted(found)


def is_data_set(folder: Path) -> bool:
    """Return whether `datasets` is to read a folder: it was saved by it, or holds Parquet files.

    Raises UsageError for a folder that is too large to be one.
    """
    return _is_saved(folder) or bool(files_below(folder, "*.parquet", depth=PARQUET_DEPTH))


def _is_saved(folder: Path) -> bool:
    """Return whether a folder is a data set or one split of it as `save_to_disk` writes them."""
    return any((folder / name).is_file() for name in (_SPLITS, _SPLIT))


def splits_of(source: str, folder: Path, configuration: str) -> Any:
    """Return the splits of a folder that `datasets` saved or published, by their names.

    One split that was saved alone has its own name, or `train`. Of a published folder with several configurations, each
    in a folder of its own, this one is read. Raises UsageError where others alone are there, and more than one.
    """
    datasets = library("datasets", source)
    folder = folder if _is_saved(folder) else _configured(source, folder, configuration)
    try:
        if not _is_saved(folder):
            return datasets.load_dataset("parquet", data_dir=str(folder))
        found = datasets.load_from_disk(str(folder))
    except (OSError, ValueError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        msg = f"{source}:{folder} cannot be read by datasets {datasets.__version__}: {type(error).__name__}: {error}"
        raise UsageError(msg) from error
    if isinstance(found, dict):
        return found
    name = str(found.split or "train")
    return {"train" if name.startswith("train") else name: found}  # such as train[:1000]


def _configured(source: str, folder: Path, configuration: str) -> Path:
    """Return the folder of one configuration; the folder itself where its own files, or those of its splits, are one.

    Otherwise articles would be read twice, or sentences of other languages among those that are wanted.
    """
    files = files_below(folder, "*.parquet", depth=PARQUET_DEPTH)
    below = sorted({file.relative_to(folder).parts[0] for file in files if file.parent != folder})
    if configuration in below:
        return folder / configuration
    others = [name for name in below if not name.startswith(_SPLIT_NAMES)]
    if len(others) > 1:
        msg = (
            f"{source}:{folder} holds {', '.join(others)}, and no {configuration}; name one of them: "
            f"{source}:{folder / others[0]}"
        )
        raise UsageError(msg)
    return folder


def splits_named(source: str, name: str, configuration: str) -> tuple[Any, str]:
    """Return the splits of a data set of Hugging Face, fetched unless it is there, and its name with the library's.

    Raises UsageError, which says what to do without a network.
    """
    datasets = library("datasets", source)
    try:
        splits = datasets.load_dataset(name, configuration)
    except (OSError, ValueError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        raise UsageError(_not_fetched(source, f"{name} ({configuration})", error)) from error
    return splits, f"{name} ({configuration}, datasets {datasets.__version__})"


def downloaded(source: str, address: str) -> Path:
    """Return the folder of an archive that is fetched and unpacked into the cache of `datasets`, unless it is there."""
    datasets = library("datasets", source)
    library("aiohttp", source)  # by which datasets fetches what is not on its own server
    try:
        return Path(datasets.DownloadManager().download_and_extract(address))
    except (OSError, ValueError, RuntimeError) as error:
        raise UsageError(_not_fetched(source, address, error)) from error


def _not_fetched(source: str, what: str, error: Exception) -> str:
    """Return why data that were named are not there, and what to do."""
    return (
        f"{source}: cannot fetch {what}: {type(error).__name__}: {error}. "
        f"Without a network name a folder that holds it: {source}:/path/to/folder"
    )


def split_of(source: str, splits: Any, wanted: str) -> Any:
    """Return one split; raise UsageError, which lists those that there are."""
    if wanted not in splits:
        msg = f"{source} has no split {wanted!r}; it has {', '.join(splits)}"
        raise UsageError(msg)
    return splits[wanted]


def column_of(source: str, split: Any, name: str) -> list[Any]:
    """Return a column's values; raise UsageError, which lists the columns that there are."""
    if name not in split.column_names:
        msg = f"{source} has no column {name!r}; it has {', '.join(split.column_names)}"
        raise UsageError(msg)
    return list(split[name])


def text_of(path: Path) -> str:
    """Return a file's text; raise UsageError for what is no UTF-8 or cannot be read.

    Lines end as on Unix or on Windows. A carriage return by itself is a part of its line: `read_text` would end one
    there, and parallel texts of WMT have some in one language alone (news-commentary, for one).
    """
    try:
        return path.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path} cannot be read as text: {error}"
        raise UsageError(msg) from error
