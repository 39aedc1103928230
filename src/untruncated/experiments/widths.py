"""Finds the width of a cell that meets a budget of operations or parameters."""

from collections.abc import Callable, Mapping
from typing import Any

from untruncated.catalogue import CatalogueError, lookup
from untruncated.catalogue.entry import not_among, shown
from untruncated.experiments.compatibility import cell_entry, check_credit

LARGEST_WIDTH = 1_000_000


def component(kind: str, values: Any, where: str) -> dict[str, Any]:
    """A component's name and all its fields, defaults included.

    Raises:
        CatalogueError: Names the field and what is allowed.
    """
    if isinstance(values, str):
        values = {"name": values}
    if not isinstance(values, Mapping):
        raise CatalogueError(where, "is missing" if values is None else "must be a mapping")
    if "name" not in values:
        raise CatalogueError(f"{where}.name", "is missing")
    entry = lookup(kind, values["name"], f"{where}.name")
    own = {key: value for key, value in values.items() if key not in ("name", "semantics")}
    return {"name": values["name"], **entry.resolve(own, where)}


def is_swept(value: Any) -> bool:
    """Whether it stands for a value of a curve's sweep."""
    return isinstance(value, str) and value.startswith("$")


def check_component(kind: str, value: Any, where: str) -> None:
    """Raises a CatalogueError if this is no component, whatever a sweep puts into its fields."""
    given = value if isinstance(value, Mapping) else {}
    width = given.get("width")
    budget = width if kind == "cell" and isinstance(width, Mapping) else None
    if budget is None and not any(map(is_swept, given.values())):
        component(kind, value, where)
        return
    if "name" not in given:
        raise CatalogueError(f"{where}.name", "is missing")
    entry = lookup(kind, given["name"], f"{where}.name")
    for key, item in given.items():
        if key in ("name", "semantics"):
            continue
        if key not in entry.fields:
            raise CatalogueError(f"{where}.{key}", not_among(key, entry.fields, "field"))
        if key == "width" and budget is not None:
            _check_budget(budget, f"{where}.width")
        elif not is_swept(item):
            entry.fields[key].coerce(item, f"{where}.{key}")


def with_window(credit: Mapping[str, Any], steps: int, where: str) -> dict[str, Any]:
    """A resolved credit assignment that says how many inputs it unrolls, if that is all of a run's.

    Raises:
        CatalogueError: The run is too long for that.
    """
    longest = lookup("credit", credit["name"], f"{where}.name").longest_run
    if longest is None:
        return dict(credit)
    if steps > longest:
        raise CatalogueError(
            f"{where}.name",
            f"{credit['name']!r} unrolls the whole past at every step, so its cost grows with the "
            f"square of the run's length: at most {longest} steps, not {steps}. 'dense_rtrl' has "
            "the same gradient while the parameters stay, at a cost that does not grow",
        )
    return {**credit, "truncation": steps}


def flops(
    cell: Mapping[str, Any], credit: Mapping[str, Any], inputs: int, where: str = "credit"
) -> int:
    """Operations per step of a resolved cell under a resolved credit assignment, said at `where`.

    Raises:
        CatalogueError: The cell does not know the credit assignment, or that one's cost depends on
            the run's length and it has not gone through `with_window`.
    """
    check_credit(cell, credit, f"{where}.name")
    whole_run = lookup("credit", credit["name"], f"{where}.name").longest_run is not None
    if whole_run and "truncation" not in credit:
        raise CatalogueError(f"{where}.name", f"what {credit['name']!r} costs depends on the run")
    return cell_entry(cell).declared("flops", cell, inputs, credit)


def parameters(cell: Mapping[str, Any], inputs: int) -> int:
    """Learned numbers of the recurrent layer."""
    return cell_entry(cell).declared("parameters", cell, inputs)


def resolve_width(
    cell: Any, credit: Mapping[str, Any], inputs: int, where: str, where_credit: str = "credit"
) -> dict[str, Any]:
    """A cell with its width as a number: as given, or the largest that stays within a budget.

    A width is a number, or one of `{flops: N}`, `{parameters: N}`, `{flops_of: {cell, credit}}`
    and `{parameters_of: {cell, credit}}`, the last two naming the layer whose cost is the budget.

    Raises:
        CatalogueError: The budget is malformed, or not even one unit meets it.
    """
    width = cell.get("width") if isinstance(cell, Mapping) else None
    if not isinstance(width, Mapping):
        return component("cell", cell, where)
    where_width = f"{where}.width"
    least = component("cell", {**cell, "width": 1}, where)
    budget, cost, unit = _budget(width, credit, inputs, where_width, where_credit)

    def affordable(width: int) -> bool:
        return cost({**least, "width": width}) <= budget

    if not affordable(1):
        raise CatalogueError(
            where_width,
            f"no width of {cell.get('name')!r} meets {budget} {unit}: one unit needs {cost(least)}",
        )
    low, high = 1, 2
    while affordable(high):
        low, high = high, 2 * high
        if high > LARGEST_WIDTH:
            raise CatalogueError(where_width, f"the budget of {budget} {unit} has no bound")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if affordable(middle) else (low, middle)
    return component("cell", {**cell, "width": low}, where)


def _form(width: Mapping[str, Any], where: str) -> tuple[str, Any]:
    """Which form of a budget this is, and its value."""
    forms = ("flops", "parameters", "flops_of", "parameters_of")
    if len(width) != 1 or next(iter(width)) not in forms:
        raise CatalogueError(where, f"must be a number or exactly one of {', '.join(forms)}")
    ((form, value),) = width.items()
    if form.endswith("_of") and (not isinstance(value, Mapping) or set(value) - {"cell", "credit"}):
        raise CatalogueError(f"{where}.{form}", "must be a mapping with the keys cell and credit")
    return form, value


def _check_budget(width: Mapping[str, Any], where: str) -> None:
    """What can be said of a budget before a sweep."""
    form, value = _form(width, where)
    if form.endswith("_of"):
        for kind in ("cell", "credit") if form == "flops_of" else ("cell", *value):
            check_component(kind, value.get(kind), f"{where}.{form}.{kind}")


def _budget(
    width: Mapping[str, Any],
    credit: Mapping[str, Any],
    inputs: int,
    where: str,
    where_credit: str,
) -> tuple[int, Callable[[Mapping[str, Any]], int], str]:
    """The budget, a resolved cell's cost, and what both are counted in."""
    form, value = _form(width, where)
    where = f"{where}.{form}"
    if form.startswith("flops"):
        unit, cost = "FLOPs per step", lambda cell: flops(cell, credit, inputs, where_credit)
    else:
        unit, cost = "parameters", lambda cell: parameters(cell, inputs)
    if not form.endswith("_of"):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise CatalogueError(where, f"must be a whole number of at least 1, not {shown(value)}")
        return value, cost, unit
    other = component("cell", value.get("cell"), f"{where}.cell")
    if form == "parameters_of":
        return parameters(other, inputs), cost, unit
    others_credit = component("credit", value.get("credit"), f"{where}.credit")
    return flops(other, others_credit, inputs, f"{where}.credit"), cost, unit
