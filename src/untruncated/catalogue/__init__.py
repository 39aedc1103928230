"""The names that a YAML may use, what each means and where it lives. Imports no jax."""

from untruncated.catalogue.brax import BRAX
from untruncated.catalogue.cells import CELLS
from untruncated.catalogue.components import CREDITS, ENVIRONMENTS, LEARNERS
from untruncated.catalogue.control import AGENTS, TASKS
from untruncated.catalogue.entry import (
    CatalogueError,
    CellEntry,
    Entry,
    EnvironmentEntry,
    EstimatorEntry,
    Field,
    ProblemEntry,
    not_among,
)
from untruncated.catalogue.estimator_traits import Sizes
from untruncated.catalogue.estimators import ESTIMATORS, OPTIMISERS
from untruncated.catalogue.plots import PLOTS
from untruncated.catalogue.popgym import POPGYM
from untruncated.catalogue.problems import PROBLEMS
from untruncated.catalogue.programs import PROGRAMS
from untruncated.catalogue.record import Record, fields_of
from untruncated.catalogue.strangers import STRANGERS, is_strangers, strangers_entry

__all__ = [
    "CELLS",
    "KINDS",
    "PROGRAMS",
    "CatalogueError",
    "CellEntry",
    "EnvironmentEntry",
    "EstimatorEntry",
    "Field",
    "ProblemEntry",
    "Record",
    "Sizes",
    "fields_of",
    "is_strangers",
    "lookup",
]

KINDS: dict[str, dict[str, Entry]] = {
    "cell": CELLS,
    "control_environment": POPGYM | BRAX,
    "credit": CREDITS,
    "environment": ENVIRONMENTS | TASKS,
    "estimator": ESTIMATORS,
    "learner": LEARNERS | AGENTS,
    "optimiser": OPTIMISERS,
    "plot": PLOTS,
    "problem": PROBLEMS,
    "program": PROGRAMS,
}


def lookup(kind: str, name: object, where: str) -> Entry:
    """The entry called `name`, or that of a stranger's component "package.module:Name".

    Cells, environments, estimators and problems may be strangers'.

    Raises:
        CatalogueError: There is no such name, or what it names has no `catalogue_entry` of its own,
            or one that does not fit it.
    """
    entries = KINDS[kind]
    if isinstance(name, str) and name in entries:
        return entries[name]
    if kind in STRANGERS and isinstance(name, str) and is_strangers(name):
        return strangers_entry(kind, name, where)
    raise CatalogueError(where, not_among(name, entries))
