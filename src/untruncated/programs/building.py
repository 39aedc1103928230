"""From a run's fields to the objects that its program composes."""

from collections.abc import Mapping
from typing import Any

from untruncated.catalogue import lookup
from untruncated.cells.protocol import Cell
from untruncated.estimators.online import OnlineGradient


def build_environment(fields: Mapping[str, Any]) -> Any:
    """The environment of a resolved spec."""
    location, values = _split("environment", fields)
    return location(**values)


def build_cell(fields: Mapping[str, Any], environment: Any) -> tuple[Cell, OnlineGradient]:
    """The cell, for the environment's observations, and how its gradient crosses time."""
    location, values = _split("cell", fields)
    if lookup("cell", fields["cell"]["name"], "cell").reference is not None:
        values["fidelity"] = fields["fidelity"]
    cell = location(inputs=environment.observation_size, **values)
    credit, values = _split("credit", fields)
    return cell, credit(cell, **values)


def build_predictor(fields: Mapping[str, Any], environment: Any) -> Any:
    """The learner, with its cell and gradient."""
    location, values = _split("learner", fields)
    return location(*build_cell(fields, environment), **values)


def _split(kind: str, fields: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    values = dict(fields[kind])
    return lookup(kind, values.pop("name"), kind).load(), values
