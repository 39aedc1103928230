"""Where data sets are looked for and kept."""

import os
from pathlib import Path

import pooch


class DataError(ValueError):
    """A data set that cannot be found or is not what it should be; says what to do."""


def cache_folder() -> Path:
    """The folder for data in the platform's cache, which may not exist yet."""
    return Path(pooch.os_cache("untruncated")) / "data"


def data_folders() -> list[Path]:
    """Where to look, in this order: the folders that UNTRUNCATED_DATA names, then the cache.

    UNTRUNCATED_DATA holds one folder or several, separated as in PATH.
    """
    named = os.environ.get("UNTRUNCATED_DATA", "").split(os.pathsep)
    return [*(Path(folder).expanduser() for folder in named if folder), cache_folder()]


def find(names: list[str]) -> Path | None:
    """The first file of one of these names, folder by folder; None if there is none."""
    candidates = (folder / name for folder in data_folders() for name in names)
    return next((path for path in candidates if path.is_file()), None)
