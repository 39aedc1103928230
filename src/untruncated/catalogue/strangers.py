"""Components in anybody's package: named "package.module:Name", described by a catalogue_entry."""

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

from untruncated.catalogue.entry import (
    CatalogueError,
    CellEntry,
    Entry,
    EnvironmentEntry,
    EstimatorEntry,
    ProblemEntry,
)

# The kinds that may live anywhere, and the class of their entries.
STRANGERS: dict[str, type[Entry]] = {
    "cell": CellEntry,
    "environment": EnvironmentEntry,
    "estimator": EstimatorEntry,
    "problem": ProblemEntry,
}


def is_strangers(name: str) -> bool:
    """Whether a name is that of a component in somebody's package."""
    return ":" in name


def strangers_entry(kind: str, name: str, where: str) -> Entry:
    """The entry that the component "package.module:Name" carries.

    Raises:
        CatalogueError: It cannot be imported, has no `catalogue_entry` of its own, or one that
            does not say what the kind must.
    """
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except SystemExit as error:
        problem = f"{name!r} cannot be imported: its module ends the process (sys.exit)"
        raise CatalogueError(where, problem) from error
    except Exception as error:  # a stranger's module may fail in any way
        raise CatalogueError(where, f"{name!r} cannot be imported: {error}") from error
    entry, wanted = getattr(found, "catalogue_entry", None), STRANGERS[kind]
    if not isinstance(entry, wanted):
        article = "an" if wanted.__name__[0] in "AEIO" else "a"
        raise CatalogueError(
            where,
            f"{name!r} has no attribute catalogue_entry that is {article} {wanted.__name__}, of "
            "untruncated.catalogue",
        )
    _check_location(kind, name, found, entry, where)
    if problem := _undeclared(entry) or _misfit(found, entry):
        raise CatalogueError(where, f"the catalogue_entry of {name!r} {problem}")
    return entry


def _check_location(kind: str, name: str, found: Any, entry: Entry, where: str) -> None:
    located_at = f"the catalogue_entry of {name!r} is located at {entry.location!r}"
    try:
        located = entry.load()
    except Exception as error:  # as above
        raise CatalogueError(where, f"{located_at}: {error}") from error
    if located is not found:  # as of a subclass, which inherits its parent's entry
        raise CatalogueError(
            where, f"{located_at}, which is something else; give the {kind} an entry of its own"
        )


def _undeclared(entry: Entry) -> str:
    """What an entry leaves out, or nothing."""
    for name, field in entry.fields.items():
        if field.type not in (int, float, bool, str):
            return f"must declare the type of its field {name}: int, float, bool or str"
    for name, formula in entry.formulas.items():
        if not callable(getattr(entry, name)):
            return f"must declare {name}=lambda {formula.arguments}: …, {formula.meaning}"
    if isinstance(entry, CellEntry) and not entry.credits:
        return "must declare credits=(…), the credit assignments that the cell can be trained with"
    return ""


def _misfit(found: Any, entry: Entry) -> str:
    """How a component differs from what its entry and its kind say, or nothing."""
    if problem := _refused(found, dict.fromkeys(entry.arguments)):
        taken = ", ".join(entry.arguments) or "no argument"
        return f"says that it is called with {taken}, which it does not take: {problem}"
    methods = dict(entry.methods)
    if isinstance(entry, CellEntry) and "rtrl" in entry.credits:
        methods |= entry.trace_methods
    for name, count in methods.items() if isinstance(found, type) else ():
        method = getattr(found, name, None)
        if method is None:
            return f"describes something without the method {name}, which it must have"
        # one made otherwise, such as a property, cannot be looked into
        if inspect.isfunction(method) and (problem := _refused(method, {}, 1 + count)):
            return f"describes something whose method {name} does not take {count} arguments: " + (
                problem
            )
    return ""


def _refused(function: Any, named: Mapping[str, Any], positional: int = 0) -> str:
    """Why a function cannot be called with these arguments, or nothing."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # it does not tell
        return ""
    try:
        signature.bind(*range(positional), **named)
    except TypeError as error:
        return str(error)
    return ""
