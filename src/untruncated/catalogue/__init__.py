"""The names that a YAML may use, what each means and where it lives. Imports no jax."""

import importlib

from untruncated.catalogue.brax import BRAX
from untruncated.catalogue.cells import CELLS
from untruncated.catalogue.components import CREDITS, ENVIRONMENTS, LEARNERS
from untruncated.catalogue.entry import CatalogueError, CellEntry, Entry, not_among
from untruncated.catalogue.estimators import ESTIMATORS, OPTIMISERS
from untruncated.catalogue.plots import PLOTS
from untruncated.catalogue.popgym import POPGYM
from untruncated.catalogue.problems import PROBLEMS
from untruncated.catalogue.programs import PROGRAMS

KINDS: dict[str, dict[str, Entry]] = {
    "cell": CELLS,
    "control_environment": POPGYM | BRAX,
    "credit": CREDITS,
    "environment": ENVIRONMENTS,
    "estimator": ESTIMATORS,
    "learner": LEARNERS,
    "optimiser": OPTIMISERS,
    "plot": PLOTS,
    "problem": PROBLEMS,
    "program": PROGRAMS,
}


def lookup(kind: str, name: object, where: str) -> Entry:
    """The entry called `name`, or the one that a stranger's cell "package.module:Name" carries.

    Raises:
        CatalogueError: There is no such name, or what it names has no `catalogue_entry` of its own.
    """
    entries = KINDS[kind]
    if isinstance(name, str) and name in entries:
        return entries[name]
    if kind == "cell" and isinstance(name, str) and ":" in name:
        return _strangers_cell(name, where)
    raise CatalogueError(where, not_among(name, entries))


def _strangers_cell(name: str, where: str) -> CellEntry:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # a stranger's module may fail in any way
        raise CatalogueError(where, f"{name!r} cannot be imported: {error}") from error
    entry = getattr(found, "catalogue_entry", None)
    if not isinstance(entry, CellEntry):
        raise CatalogueError(
            where, f"{name!r} has no attribute catalogue_entry that is a CellEntry"
        )
    try:
        located = entry.load()
    except Exception as error:  # as above
        problem = f"the catalogue_entry of {name!r} is located at {entry.location!r}: {error}"
        raise CatalogueError(where, problem) from error
    if located is not found:  # as of a subclass, which inherits its parent's entry
        raise CatalogueError(
            where,
            f"the catalogue_entry of {name!r} is located at {entry.location!r}, which is something "
            "else; give the cell an entry of its own",
        )
    return entry
