"""What draws a figure, from imports in the source and from the modules as they are when loaded."""

import importlib
import types
from pathlib import Path

import pytest

from untruncated.catalogue import KINDS, lookup
from untruncated.experiments.sources import source_files

PLOTS = Path(importlib.import_module("untruncated.plots").__file__).parent


def used_rooms(path: Path) -> set[Path]:
    """The files of plots/ that a loaded module of it has anything from."""
    module = importlib.import_module(f"untruncated.plots.{path.stem}")
    owners = {
        value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", "")
        for value in vars(module).values()
    }
    owners = {owner for owner in owners if (owner or "").startswith("untruncated.plots.")}
    return {PLOTS / f"{owner.rpartition('.')[2]}.py" for owner in owners}


@pytest.mark.parametrize("kind", KINDS["plot"])
def test_every_module_that_a_drawing_has_something_from_is_found(kind):
    module = lookup("plot", kind, "plot").location.partition(":")[0]
    found = source_files(module, ("untruncated.plots.",))
    assert PLOTS / f"{module.rpartition('.')[2]}.py" in found
    for path in found:
        assert used_rooms(path) <= found | {PLOTS / "__init__.py"}


def test_helpers_of_helpers_are_found_and_other_rooms_only_if_asked():
    only_plots = {
        path.name for path in source_files("untruncated.plots.tuned_sweep", ("untruncated.plots.",))
    }
    assert {"tuned_sweep.py", "axes.py", "style.py"} <= only_plots
    assert "sweep_lines.py" not in only_plots and "figure.py" not in only_plots
    with_rows = source_files(
        "untruncated.plots.tuned_sweep", ("untruncated.plots.", "untruncated.statistics.")
    )
    assert {path.name for path in with_rows} - only_plots == {"rows.py"}
    with_words = source_files(
        "untruncated.plots.figure", ("untruncated.plots.", "untruncated.catalogue.")
    )
    assert PLOTS.parent / "catalogue" / "plots.py" in with_words
    assert all("experiments" not in path.parts for path in with_words)
    assert source_files("untruncated.no_such_module", ("untruncated.",)) == set()
