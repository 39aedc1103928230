"""The catalogue and the components that it names agree on fields and defaults."""

import inspect

import pytest

from untruncated.agents import optimisers
from untruncated.catalogue import KINDS
from untruncated.catalogue.field import REQUIRED
from untruncated.environments.popgym import registry

NOTES = "__annotations__"

ENTRIES = {(kind, name): entry for kind, all_ in KINDS.items() for name, entry in all_.items()}
# What a builder gives besides fields.
GIVEN = {
    "cell": {"inputs", "fidelity"},
    "control_environment": {"name", "part"},  # bound already, of Brax's robots
    "credit": {"cell", "truncation"},
    "environment": {"fidelity", "name", "part"},  # of tasks: the run's fidelity, Brax's robots
    "estimator": {"fidelity"},
    "learner": {"cell", "gradient", "time_limits"},
}
# These take their fields as one mapping.
MAPPED = {"plot": {"axes", "table", "plot"}, "program": {"fields", "step_sizes", "choices"}}
# What no file can say yet: as in the paper.
NOT_FIELDS = {
    ("environment", "trace_conditioning"): {
        "cs_steps",
        "us_steps",
        "iti_low",
        "iti_high",
        "distractor_steps",
    }
}


def parameters(kind: str, name: str) -> dict[str, inspect.Parameter]:
    """The arguments of a component by name."""
    return dict(inspect.signature(ENTRIES[kind, name].load()).parameters)


@pytest.mark.parametrize(("kind", "name"), ENTRIES)
def test_every_argument_is_a_field_or_is_given_by_the_builder(kind, name):
    arguments, entry = set(parameters(kind, name)), ENTRIES[kind, name]
    if kind in MAPPED:
        assert arguments == MAPPED[kind] or (entry.fields == {} and arguments <= MAPPED[kind])
        return
    assert set(entry.fields) <= arguments
    others = arguments - set(entry.fields) - NOT_FIELDS.get((kind, name), set())
    assert others <= GIVEN.get(kind, set())


@pytest.mark.parametrize(("kind", "name"), [key for key in ENTRIES if key[0] not in MAPPED])
def test_defaults_are_the_same_on_both_sides(kind, name):
    arguments = parameters(kind, name)
    for key, field in ENTRIES[kind, name].fields.items():
        default = arguments[key].default
        if field.default is not REQUIRED and default is not inspect.Parameter.empty:
            assert (type(field.default), field.default) == (type(default), default), key
        assert field.default is not REQUIRED or default is inspect.Parameter.empty, key


# A function's arguments are its own; their defaults are read from the catalogue.
FUNCTIONS = {
    "optimiser": optimisers,
    "control_environment": registry,
    "environment": registry,
}


@pytest.mark.parametrize(("kind", "name"), [key for key in ENTRIES if key[0] not in MAPPED])
def test_no_field_is_said_twice(kind, name):
    component = ENTRIES[kind, name].load()
    component = getattr(component, "func", component)  # of a partial
    if not isinstance(component, type):
        assert component.__module__ == FUNCTIONS[kind].__name__
        return
    for field in ENTRIES[kind, name].fields:
        saying = [c.__module__ for c in component.__mro__ if field in vars(c).get(NOTES, ())]
        assert saying and all(module.startswith("untruncated.catalogue.") for module in saying)
