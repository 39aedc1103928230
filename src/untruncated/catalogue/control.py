"""Control: the tasks in which an agent acts, and the agent that learns from rollouts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any

from untruncated.catalogue.brax import BRAX
from untruncated.catalogue.entry import Entry, EnvironmentEntry, Field
from untruncated.catalogue.popgym import POPGYM
from untruncated.catalogue.record import Record, fields_of
from untruncated.catalogue.traits import EPISODES, ROLLOUTS


@dataclass(frozen=True)
class PPOFields(Record):
    """Of proximal policy optimisation. RTU paper, Table 1, and its public code."""

    rollout: Annotated[
        int, Field(minimum=2, maximum=1_000_000, meaning="steps between two updates")
    ] = 2048
    minibatches: Annotated[int, Field(minimum=1, meaning="parts of a rollout")] = 32
    epochs: Annotated[int, Field(minimum=1, maximum=1000, meaning="passes over a rollout")] = 4
    discount: Annotated[float, Field(minimum=0, below=1, meaning="γ of the return")] = 0.99
    trace_decay: Annotated[
        float, Field(minimum=0, maximum=1, meaning="λ of the generalised advantages")
    ] = 0.95
    clip: Annotated[
        float,
        Field(above=0, meaning="largest distance of a ratio from 1, and of a value from the old"),
    ] = 0.2
    value_coefficient: Annotated[
        float, Field(minimum=0, meaning="weight of half the squared error of the values")
    ] = 0.5
    entropy_coefficient: Annotated[
        float, Field(minimum=0, meaning="weight of the policy's entropy")
    ] = 0.0
    largest_norm: Annotated[
        float, Field(above=0, meaning="of a minibatch's gradient, over all parameters")
    ] = 0.5
    adam_epsilon: Annotated[float, Field(above=0, meaning="ε of Adam")] = 1e-5
    decay_step_size: Annotated[
        bool, Field(meaning="step size falls linearly to zero at the end of the run")
    ] = False
    trace_storage: Annotated[
        str,
        Field(
            choices=("recompute", "stored"),
            meaning="whether RTRL goes back through the rollout or keeps the traces of each step",
        ),
    ] = "recompute"
    refresh_traces: Annotated[
        bool, Field(meaning="before each epoch, states and traces with today's parameters")
    ] = False
    refresh_targets: Annotated[
        bool, Field(meaning="before each epoch, values and advantages with today's parameters")
    ] = False


AGENTS: dict[str, Entry] = {
    "ppo": Entry("untruncated.agents.ppo:PPO", fields_of(PPOFields), traits={ROLLOUTS: {}})
}


def _task(entry: EnvironmentEntry) -> EnvironmentEntry:
    """A task as a run's environment: its fidelity is the run's."""

    def at(formula: Callable) -> Callable:
        return lambda fields: formula({"fidelity": "exact", **fields})

    fields = {name: field for name, field in entry.fields.items() if name != "fidelity"}
    return replace(
        entry,
        fields=fields,
        observation_size=at(entry.observation_size),
        actions=at(entry.actions),
        traits={EPISODES: {}},
    )


TASKS: dict[str, EnvironmentEntry] = {name: _task(entry) for name, entry in (POPGYM | BRAX).items()}


def fidelities(task: str) -> tuple[Any, ...]:
    """The fidelities in which there is a task of this name."""
    return (POPGYM | BRAX)[task].fields["fidelity"].choices
