"""How matplotlib is set up; said before it is imported."""

import importlib.util
import os
from pathlib import Path


def ignore_users_settings() -> None:
    """Keeps matplotlib from reading the user's settings.

    A figure is the same for everybody, and what is not valid, such as an unknown MPLBACKEND, would
    stop the import.
    """
    found = importlib.util.find_spec("matplotlib")
    if found and found.submodule_search_locations:
        folder = found.submodule_search_locations[0]
        os.environ["MATPLOTLIBRC"] = str(Path(folder, "mpl-data", "matplotlibrc"))
    for name in ("MPLBACKEND", "SOURCE_DATE_EPOCH"):
        os.environ.pop(name, None)
