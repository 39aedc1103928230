"""Whether an estimator can be used on a problem, from what the catalogue says of both."""

from collections.abc import Mapping
from typing import Any

from untruncated.catalogue import CatalogueError, EstimatorEntry, lookup
from untruncated.catalogue.estimators import ESTIMATORS


def check_unrolls(fields: Mapping[str, Any], where: str) -> None:
    """Raises a CatalogueError unless a resolved spec's estimator fits its problem.

    Args:
        fields: All fields of the run, with a `problem` and an `estimator`.
        where: The spec's dotted path.
    """
    problem, estimator = fields["problem"], fields["estimator"]
    horizon = _declared("horizon", problem, where)
    _check_recording(problem, horizon, where)
    _check_needs(problem, estimator["name"], horizon, where)
    truncation = estimator.get("truncation", 1)
    if horizon is not None and truncation > horizon:
        raise CatalogueError(
            f"{where}.estimator.truncation",
            f"must be at most {horizon}, the steps of an inner problem, not {truncation}",
        )
    if horizon is not None and fields["fidelity"] == "reference" and horizon % truncation:
        raise CatalogueError(
            f"{where}.estimator.truncation",
            f"must divide {horizon}, the steps of an inner problem, where fidelity is "
            f"'reference', not {truncation}",
        )
    _check_groups(fields, horizon, where)
    _check_evaluation(fields, horizon, where)
    _check_truth(fields, horizon, where)


def _declared(name: str, problem: Mapping[str, Any], where: str) -> Any:
    """What a resolved problem's entry says of it."""
    return lookup("problem", problem["name"], f"{where}.problem.name").declared(name, problem)


def _check_recording(problem: Mapping[str, Any], horizon: int | None, where: str) -> None:
    """A recording that inner problems are a part of is as long as they are."""
    recorded = problem.get("recorded")
    if recorded is not None and horizon is not None and recorded < horizon:
        raise CatalogueError(
            f"{where}.problem.recorded",
            f"must be at least {horizon}, the steps of an inner problem, not {recorded}",
        )


def _check_needs(problem: Mapping[str, Any], name: str, horizon: int | None, where: str) -> None:
    """Derivatives, inner problems that end, and cells with traces."""
    cell, differentiable = (_declared(name, problem, where) for name in ("cell", "differentiable"))
    traces = cell is not None and "rtrl" in lookup("cell", cell, f"{where}.problem").credits

    def missing(entry: EstimatorEntry) -> str:
        if entry.derivatives and not differentiable:
            return "derivatives"
        if entry.traces and not traces:
            return "a cell with traces"
        return "inner problems that end" if entry.whole and horizon is None else ""

    where = f"{where}.estimator.name"
    if lacking := missing(lookup("estimator", name, where)):
        allowed = [other for other, entry in ESTIMATORS.items() if not missing(entry)]
        raise CatalogueError(
            where,
            f"estimator {name!r} needs {lacking}, which problem {problem['name']!r} does not have. "
            f"Allowed: {', '.join(allowed)}",
        )


def _check_groups(fields: Mapping[str, Any], horizon: int | None, where: str) -> None:
    groups = fields.get("groups", 1)
    if groups == 1:
        return
    name = fields["estimator"]["name"]
    if horizon is None or lookup("estimator", name, f"{where}.estimator.name").whole:
        raise CatalogueError(
            f"{where}.groups",
            f"must be 1, not {groups}: no inner problem of estimator {name!r} on problem "
            f"{fields['problem']['name']!r} ends between two iterations",
        )
    if groups > horizon:
        raise CatalogueError(f"{where}.groups", f"must be at most {horizon}, not {groups}")


def _check_evaluation(fields: Mapping[str, Any], horizon: int | None, where: str) -> None:
    if "evaluation_steps" not in fields:
        return
    steps = fields["evaluation_steps"]
    if horizon is None and steps is None:
        raise CatalogueError(
            f"{where}.evaluation_steps",
            f"is missing: problem {fields['problem']['name']!r} never ends",
        )
    if horizon is not None and steps is not None and steps > horizon:
        raise CatalogueError(f"{where}.evaluation_steps", f"must be at most {horizon}, not {steps}")


def _check_truth(fields: Mapping[str, Any], horizon: int | None, where: str) -> None:
    """Estimates are summed over a whole inner problem and compared with its gradient."""
    if "truth" not in fields:
        return
    name, truncation = fields["problem"]["name"], fields["estimator"].get("truncation", 1)
    if horizon is None:
        raise CatalogueError(
            f"{where}.problem.horizon", f"must be a number: problem {name!r} would never end"
        )
    if horizon % truncation:
        raise CatalogueError(
            f"{where}.estimator.truncation",
            f"must divide {horizon}, the steps of an inner problem, not {truncation}",
        )
    if fields["truth"] == "bptt" and not _declared("differentiable", fields["problem"], where):
        raise CatalogueError(
            f"{where}.truth",
            f"'bptt' needs derivatives, which problem {name!r} does not have. Allowed: full_es",
        )
