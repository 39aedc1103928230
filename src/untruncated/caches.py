"""Where what can be made or fetched again is kept, by the platform's convention."""

from pathlib import Path

from platformdirs import user_cache_path


def cache_folder() -> Path:
    """The suite's folder in the user's cache, which may not exist yet.

    Raises:
        RuntimeError: Nobody says where the home folder is, and so the cache.
    """
    folder = user_cache_path("untruncated", appauthor=False)
    if not folder.is_absolute():  # the ~ of an unknown home is left as it is
        raise RuntimeError("no home folder is known on this machine")
    return folder
