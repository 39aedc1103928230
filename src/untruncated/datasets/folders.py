"""Where data sets are looked for and kept."""

import os
from pathlib import Path

from untruncated import caches


class DataError(ValueError):
    """A data set that cannot be found or is not what it should be; says what to do."""


def cache_folder() -> Path:
    """The folder for data in the platform's cache, which may not exist yet.

    Raises:
        DataError: Nobody says where the home folder is, and so the cache.
    """
    try:
        return caches.cache_folder() / "data"
    except RuntimeError as error:
        raise DataError(
            f"{error}: name a folder for data in UNTRUNCATED_DATA, or one for caches in "
            "XDG_CACHE_HOME"
        ) from error


def data_folders() -> list[Path]:
    """Where to look, in this order: the folders that UNTRUNCATED_DATA names, then the cache.

    UNTRUNCATED_DATA holds one folder or several, separated as in PATH.

    Raises:
        DataError: It names none, and there is no home folder to have a cache in.
    """
    named = os.environ.get("UNTRUNCATED_DATA", "").split(os.pathsep)
    folders = [Path(os.path.expanduser(folder)) for folder in named if folder]
    try:
        return [*folders, cache_folder()]
    except DataError:
        if not folders:
            raise
        return folders


def find(names: list[str]) -> Path | None:
    """The first file of one of these names, folder by folder; None if there is none.

    Raises:
        DataError: A folder cannot be looked into.
    """
    candidates = (folder / name for folder in data_folders() for name in names)
    try:
        return next((path for path in candidates if path.is_file()), None)
    except OSError as error:
        raise DataError(f"{error.filename}: cannot be looked for: {error.strerror}") from error
