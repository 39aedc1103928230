"""Whether the components of a run fit each other, from what the catalogue says of each.

All rules are here, and `check_fit` tries them before anything is imported or run. Every error names
the field, what it lacks, and what would do.
"""

from collections.abc import Mapping
from typing import Any

from untruncated.catalogue import KINDS, CatalogueError, CellEntry, EstimatorEntry, lookup
from untruncated.catalogue.programs import ProgramEntry

# How much of a return a learner that waits for it may cut off.
LARGEST_REST = 1e-3


def check_fit(program: ProgramEntry, fields: Mapping[str, Any], where: str) -> None:
    """Raises a CatalogueError unless the components of a resolved spec fit each other.

    Args:
        program: The entry of the run's program.
        fields: All fields of the run; or the program, the fidelity and the components of one thing
            that it measures side by side with others.
        where: The dotted path of what has these components.
    """
    for kind in program.needs:
        if kind in fields:
            _check_trait(program, kind, fields, where)
    if "cell" in fields and "credit" in fields:
        check_credit(fields["cell"], fields["credit"], f"{where}.credit.name")
    measured_apart = program.members and not set(program.member_parts) & set(fields)
    acts = "rollout" in fields.get("learner", {})
    if acts:
        _check_rollout(fields, where)
    elif fields["fidelity"] == "reference" and "problem" not in fields and not measured_apart:
        _check_reference(fields.get("cell"), fields.get("credit"), f"{where}.fidelity")
    if "learner" in fields:
        _check_delay(fields["learner"], f"{where}.learner.delay")
    if program.ends:
        _check_ends(fields["problem"], where)
    if "problem" in fields and "estimator" in fields:
        _check_unrolls(fields, where)


def check_same_return(discount: float, learner: Mapping[str, Any], where: str) -> None:
    """Raises a CatalogueError unless a baseline's return is the one that a learner predicts."""
    if discount != learner["discount"]:
        raise CatalogueError(where, f"must be the learner's, {learner['discount']}")


def _check_trait(program: ProgramEntry, kind: str, fields: Mapping[str, Any], where: str) -> None:
    """A component has what the program asks of its kind."""
    trait, given = program.needs[kind], fields[kind]
    values = lookup(kind, given["name"], f"{where}.{kind}.name").traits.get(trait)
    name, where = f"{kind} {given['name']!r}", f"{where}.{kind}"
    asked = f"program {fields['program']!r} needs {trait}"
    if values is None:
        able = [other for other, entry in KINDS[kind].items() if trait in entry.traits]
        raise CatalogueError(
            f"{where}.name", f"{asked}, which {name} does not have. Allowed: {', '.join(able)}"
        )
    for key, value in values.items():
        if given[key] != value:
            raise CatalogueError(
                f"{where}.{key}", f"{asked}: {name} has that with {key}: {value}, not {given[key]}"
            )


def _check_delay(learner: Mapping[str, Any], where: str) -> None:
    """A learner that waits for the return sees almost all of it."""
    if "delay" in learner and learner["discount"] ** learner["delay"] > LARGEST_REST:
        raise CatalogueError(
            where,
            f"{learner['delay']} steps cut off more than {100 * LARGEST_REST:g} % of a return "
            f"discounted by {learner['discount']}",
        )


def _check_rollout(fields: Mapping[str, Any], where: str) -> None:
    """A rollout fits the run, and is cut into whole minibatches of whole windows."""
    learner, credit = fields["learner"], fields["credit"]
    rollout, parts = learner["rollout"], learner["minibatches"]
    if fields["steps"] < rollout:
        raise CatalogueError(
            f"{where}.steps",
            f"must be at least {rollout}, the steps of the learner's rollout, "
            f"not {fields['steps']}",
        )
    if credit["name"] not in ("rtrl", "truncated_bptt"):
        raise CatalogueError(
            f"{where}.credit.name",
            f"{credit['name']!r} cannot learn from rollouts. Allowed: rtrl, truncated_bptt",
        )
    window = credit.get("truncation", 1)
    if rollout % (parts * window):
        windows = f" of windows of {window} steps" if window > 1 else ""
        raise CatalogueError(
            f"{where}.learner.minibatches",
            f"a rollout of {rollout} steps cannot be cut into {parts} equal minibatches{windows}",
        )
    if credit["name"] == "truncated_bptt" and learner["trace_storage"] != "recompute":
        raise CatalogueError(
            f"{where}.learner.trace_storage",
            "changes nothing with 'truncated_bptt', which has no traces. Leave it out",
        )
    if fields["cell"].get("halved"):
        raise CatalogueError(
            f"{where}.cell.halved",
            "must be false: halved traces are exact only while the parameters do not change",
        )


def _check_ends(problem: Mapping[str, Any], where: str) -> None:
    if _declared("horizon", problem, where) is None:
        raise CatalogueError(
            f"{where}.problem.horizon",
            f"must be a number: problem {problem['name']!r} would never end",
        )


def check_credit(cell: Mapping[str, Any], credit: Mapping[str, Any], where: str) -> None:
    """Raises a CatalogueError unless the cell can be trained with this credit assignment."""
    entry = cell_entry(cell)
    if credit["name"] not in entry.credits:
        raise CatalogueError(
            where,
            f"cell {cell['name']!r} cannot be trained with {credit['name']!r}. "
            f"Allowed: {', '.join(entry.credits)}",
        )
    for name in entry.trace_fields if credit["name"] != "rtrl" else ():
        if cell[name] != entry.fields[name].default:
            raise CatalogueError(
                where,
                f"cell {cell['name']!r} has {name}: {cell[name]}, which changes nothing with "
                f"{credit['name']!r}. Leave it out, or use 'rtrl'",
            )


def _check_reference(
    cell: Mapping[str, Any] | None, credit: Mapping[str, Any] | None, where: str
) -> None:
    """The public code's gradient differs where the cell's entry says so, and under RTRL alone."""
    reference = cell_entry(cell).reference if cell else None
    if cell is None or reference is None:
        differing = (name for name, entry in KINDS["cell"].items() if entry.reference is not None)
        problem = f"of the cells only these differ: {', '.join(differing)}"
    elif credit is None or credit["name"] != "rtrl":
        problem = f"{cell['name']!r} differs under the credit assignment 'rtrl' alone"
    elif wrong := {key: value for key, value in reference.items() if cell[key] != value}:
        needed = ", ".join(f"{key}: {value}" for key, value in wrong.items())
        problem = f"{cell['name']!r} differs with {needed} alone"
    else:
        return
    raise CatalogueError(where, f"'reference' would change nothing here, use 'exact': {problem}")


def _check_unrolls(fields: Mapping[str, Any], where: str) -> None:
    """An estimator fits its problem."""
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
        allowed = [other for other, entry in KINDS["estimator"].items() if not missing(entry)]
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
    _check_ends(fields["problem"], where)
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


def cell_entry(cell: Mapping[str, Any]) -> CellEntry:
    """The catalogue entry of a resolved cell."""
    return lookup("cell", cell["name"], "cell.name")
