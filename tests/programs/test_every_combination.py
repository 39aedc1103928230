"""Every combination of components is refused when the spec is read, or makes a program that runs.

What runs is traced, not computed: an error in a shape or a missing method shows all the same.
"""

import itertools

import jax
import pytest

from untruncated.catalogue import KINDS, CatalogueError, lookup
from untruncated.catalogue.control import TASKS
from untruncated.catalogue.entry import REQUIRED
from untruncated.experiments.spec import resolve_run
from untruncated.running.memory import traced_without_options

pytestmark = pytest.mark.slow

PROGRAMS = KINDS["program"]
TIMED = [name for name, entry in PROGRAMS.items() if entry.members]
TRACED = [name for name in PROGRAMS if name not in TIMED]
# Values of fields that have no default, or one too large for a test.
SMALL = {
    "width": 3,
    "particles": 4,
    "truncation": 5,
    "sigma": 0.1,
    "steps": 100,
    "horizon": 20,
    "evaluation_steps": 10,
    "recorded": 400,
    "units": 3,
    "positive": 1,
    "parameters": 3,
    "text": "random",
    "truth_particles": 4,
    "low": -1.0,
    "high": 1.0,
    "low_0": -1.0,
    "high_0": 1.0,
    "low_1": 0.5,
    "high_1": 1.0,
    "repeats": 1,
}
SMALL |= {"rollout": 20, "minibatches": 2}
# One task of each kind: a test of the catalogue goes through all.
TASKS_TRIED = ("RepeatFirstEasy", "PositionOnlyPendulumEasy", "hopper-P")
# Optimisers see gradients alone: with one estimator all of them, with the others one.
ONLY_WITH = {"sgd": "pes"}


def small(kind, name):
    """A component with small values."""
    fields = lookup(kind, name, kind).fields
    return {"name": name} | {key: SMALL[key] for key in fields if key in SMALL}


def tried(kind):
    """The components of a kind, without tasks that are like others."""
    left_out = set(TASKS) - set(TASKS_TRIED) if kind == "environment" else ()
    return [name for name in KINDS[kind] if name not in left_out]


def combinations(program):
    """The fields of every run of a program, whether its components fit or not."""
    entry = PROGRAMS[program]
    own = {key: SMALL[key] for key, field in entry.fields.items() if field.default is REQUIRED}
    own |= {key: SMALL[key] for key in ("truth_particles", "repeats") if key in entry.fields}
    own |= {"evaluation_steps": 10} if "evaluation_steps" in entry.fields else {}
    if entry.tuned:
        own["step_sizes"] = [0.1]
    for names in itertools.product(*(tried(kind) for kind in entry.parts)):
        if all(ONLY_WITH.get(name, other) in (other, *names) for name in names for other in names):
            parts = {kind: small(kind, name) for kind, name in zip(entry.parts, names, strict=True)}
            yield names, {"program": program, "seeds": [0], **own, **parts}


def refused_or_traced(fields):
    """Whether the run was refused; raises whatever else goes wrong."""
    try:
        spec = resolve_run(fields)
    except CatalogueError:
        return True
    entry = PROGRAMS[fields["program"]]
    program = entry.load()(spec.fields, spec.fields.get("step_sizes", []), {})
    with traced_without_options():
        carry = jax.eval_shape(program.init)
        after = jax.eval_shape(program.advance, carry)
    assert jax.tree.structure(after) == jax.tree.structure(carry)
    return False


@pytest.mark.parametrize("program", TRACED)
def test_every_combination_is_refused_or_runs(program):
    refused = {names: refused_or_traced(fields) for names, fields in combinations(program)}
    assert not all(refused.values())
    needy = PROGRAMS[program].needs and program != "online_prediction"
    assert any(refused.values()) or not needy


@pytest.mark.parametrize("program", TIMED)
def test_what_is_timed_is_refused_or_built(program):
    entry = PROGRAMS[program]
    built = 0
    for _, fields in combinations(program):
        member = {kind: fields.pop(kind) for kind in entry.member_parts}
        try:
            spec = resolve_run({**fields, entry.members: [member]})
        except CatalogueError:
            continue
        assert entry.load()(spec.fields, [], {}).members == 1
        built += 1
    assert built > 20
