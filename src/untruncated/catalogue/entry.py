"""What the catalogue says of a component: where it lives, its fields, its version. No jax here."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from untruncated.catalogue.estimator_traits import Sizes
from untruncated.catalogue.field import (
    REQUIRED,
    CatalogueError,
    Field,
    coerce_type,
    not_among,
    shown,
)
from untruncated.catalogue.traits import STREAM

__all__ = [
    "CatalogueError",
    "CellEntry",
    "CreditEntry",
    "Entry",
    "EnvironmentEntry",
    "EstimatorEntry",
    "Field",
    "Formula",
    "ProblemEntry",
    "not_among",
    "shown",
]

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Formula:
    """What an entry declares by a function: its arguments, the type of its value, what it means."""

    arguments: str
    type: type
    meaning: str
    minimum: int | None = None
    nullable: bool = False

    def coerce(self, value: Any, where: str) -> Any:
        """The value in the formula's type; a count may be of any size."""
        if value is None and self.nullable:
            return None
        value = coerce_type(value, self.type, where)
        if self.minimum is not None and value < self.minimum:
            raise CatalogueError(where, f"must be at least {self.minimum}, not {value}")
        return value


@dataclass(frozen=True)
class Entry:
    """A component: `location` is "package.module:Name", called with the fields as arguments.

    `semantics` is raised when the same fields come to mean other numbers. It is part of a run's
    identity, so raising it recomputes exactly the runs that use the component. An entry of one kind
    has `formulas`, and its component the `methods`, with so many arguments each. `traits` are what
    a program may ask of it (`catalogue.traits`), each with the values that its fields must have.
    """

    formulas: ClassVar[Mapping[str, Formula]] = {}
    methods: ClassVar[Mapping[str, int]] = {}

    location: str
    fields: Mapping[str, Field] = field(default_factory=dict)
    semantics: int = 1
    traits: Mapping[str, Fields] = field(default_factory=dict)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of what the component is called with."""
        return tuple(self.fields)

    def declared(self, name: str, *arguments: Any) -> Any:
        """What a formula of the entry says.

        Raises:
            CatalogueError: There is none, it fails, or its value is of another type.
        """
        formula = self.formulas[name]
        wanted = f"{name}=lambda {formula.arguments}: …, {formula.meaning}"
        where = f"the catalogue_entry of {self.location!r}"
        if getattr(self, name) is None:
            raise CatalogueError(where, f"must declare {wanted}")
        try:
            value = getattr(self, name)(*arguments)
        except Exception as error:  # a stranger's formula may fail in any way
            raise CatalogueError(
                where, f"{wanted}, fails: {type(error).__name__}: {error}"
            ) from error
        return formula.coerce(value, f"{where}, {wanted}")

    def load(self) -> Any:
        """Imports what `location` names."""
        module, _, name = self.location.partition(":")
        return getattr(importlib.import_module(module), name)

    def resolve(self, values: Mapping[str, Any], where: str) -> dict[str, Any]:
        """All fields, coerced, with defaults filled in.

        Raises:
            CatalogueError: A field is unknown, missing, or has a value that is not allowed.
        """
        for key in values:
            if key not in self.fields:
                raise CatalogueError(f"{where}.{key}", not_among(key, self.fields, "field"))
        resolved = {}
        for name, spec in self.fields.items():
            if name in values:
                resolved[name] = spec.coerce(values[name], f"{where}.{name}")
            elif spec.default is REQUIRED:
                raise CatalogueError(f"{where}.{name}", "is missing")
            else:
                resolved[name] = spec.default
        return resolved

    def canonical(self, resolved: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that differ from their defaults, and the version unless it is the first."""
        kept = {
            name: value
            for name, value in resolved.items()
            if self.fields[name].default is REQUIRED or value != self.fields[name].default
        }
        return kept if self.semantics == 1 else {**kept, "semantics": self.semantics}


@dataclass(frozen=True)
class EnvironmentEntry(Entry):
    """An environment, with the sizes of what is seen and done as formulas of its fields.

    `observation_size(fields)` is the number of features. `actions(fields)` is the number of
    discrete actions: 0 in a prediction problem, None if the action is a real vector, which then
    has `action_size` numbers. It is a stream with returns to predict, unless `traits` says else.
    """

    formulas: ClassVar = {
        "observation_size": Formula("fields", int, "the number of features of an observation", 1)
    }
    methods: ClassVar = {"reset": 1, "step": 1}

    traits: Mapping[str, Fields] = field(default_factory=lambda: {STREAM: {}})
    observation_size: Callable[[Fields], int] | None = None
    actions: Callable[[Fields], int | None] = lambda fields: 0
    action_size: int = 0


@dataclass(frozen=True)
class CreditEntry(Entry):
    """A credit assignment.

    One that unrolls the whole past at every step has a `longest_run`: it takes the run's number of
    steps as the argument `truncation`, and more steps than that are refused.
    """

    longest_run: int | None = None


@dataclass(frozen=True)
class CellEntry(Entry):
    """A recurrent cell, with its costs as formulas of its resolved fields.

    `credits` names the credit assignments that it can be trained with.
    `parameters(fields, inputs)` counts the recurrent layer's learned numbers.
    `flops(fields, inputs, credit)` counts a step's floating-point operations under a credit
    assignment given with its resolved fields; see `catalogue.cells`. A cell whose RTRL gradient
    differs in its paper's public code takes an argument `fidelity`; `reference` holds the values
    that its fields must have for that, and is None for any other cell. `trace_fields` say how
    traces are carried, and mean something under RTRL alone. `separate_units`: each has a state and
    features of its own, which stay zero if it has no input.
    """

    formulas: ClassVar = {
        "parameters": Formula("fields, inputs", int, "the number of its learned numbers", 0),
        "flops": Formula("fields, inputs, credit", int, "the operations of a step", 0),
    }
    methods: ClassVar = {
        "init": 1,
        "initial_state": 0,
        "derive": 1,
        "drive": 3,
        "step": 4,
        "features": 3,
        "constrain": 1,
    }
    trace_methods: ClassVar = {"initial_traces": 0, "advance": 6, "contract": 5}

    credits: tuple[str, ...] = ()
    parameters: Callable[[Fields, int], int] | None = None
    flops: Callable[[Fields, int, Fields], int] | None = None
    reference: Mapping[str, Any] | None = None
    trace_fields: tuple[str, ...] = ()
    separate_units: bool = False

    @property
    def arguments(self) -> tuple[str, ...]:
        return ("inputs", *self.fields, *(("fidelity",) if self.reference is not None else ()))


@dataclass(frozen=True)
class EstimatorEntry(Entry):
    """An estimator, what it needs and what it costs.

    `derivatives`: steps that can be differentiated. `whole`: inner problems that end, because it
    unrolls whole ones. `traces`: a problem that is a cell with traces. `has_reference`: it takes
    `fidelity`, since the papers' public code differs. `operations(sizes)` and `numbers(sizes)` are
    the floating-point operations of one gradient and the numbers that it holds in memory, by the
    `estimator_traits.Sizes` of a problem. Of its fields, `truncation` is the number of steps of an
    unroll and `particles` that of copies of the problem; without them they are 1.
    """

    formulas: ClassVar = {
        "operations": Formula("sizes", float, "the operations of one gradient", minimum=0),
        "numbers": Formula("sizes", float, "the numbers that it holds in memory", minimum=0),
    }
    methods: ClassVar = {"init": 3, "step": 4, "inner_steps": 1}

    derivatives: bool = False
    whole: bool = False
    traces: bool = False
    has_reference: bool = False
    operations: Callable[[Sizes], float] | None = None
    numbers: Callable[[Sizes], float] | None = None

    @property
    def arguments(self) -> tuple[str, ...]:
        return (*self.fields, *(("fidelity",) if self.has_reference else ()))


@dataclass(frozen=True)
class ProblemEntry(Entry):
    """A problem; what an estimator must know of it before anything is imported.

    `horizon(fields)` is the number of steps of an inner problem, or None if it never ends, and
    `differentiable(fields)` whether its steps have derivatives of use. `cell(fields)` is the name
    of the recurrent cell that it consists of, if it does.
    """

    formulas: ClassVar = {
        "horizon": Formula(
            "fields", int, "the steps of an inner problem, None if it never ends", 1, nullable=True
        ),
        "differentiable": Formula("fields", bool, "whether its steps have derivatives of use"),
        "cell": Formula(
            "fields", str, "the name of the cell that it consists of, or None", nullable=True
        ),
    }
    methods: ClassVar = {"initial_theta": 1, "initial_state": 1, "unroll_step": 4}

    horizon: Callable[[Fields], int | None] = lambda fields: fields["horizon"]
    differentiable: Callable[[Fields], bool] = lambda fields: True
    cell: Callable[[Fields], str | None] = lambda fields: None
