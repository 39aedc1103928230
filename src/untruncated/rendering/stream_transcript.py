"""A prediction problem's stream as text: what is seen, what is to be predicted, and the best guess.

A seed's stream is the one that runs with this seed learn from.
"""

import inspect
import textwrap
from collections.abc import Iterator
from functools import singledispatch

import jax
import numpy as np

from untruncated.environments.returns import discounted_returns, tail_steps
from untruncated.environments.three_state_mdp import MEMORY_STATE, STATES, ThreeStateMDP
from untruncated.environments.trace_conditioning import State, TraceConditioning
from untruncated.environments.trace_conditioning_optimal import (
    optimal_predictions,
    optimal_values,
)

Stream = TraceConditioning | ThreeStateMDP
# A trial of trace conditioning at E = 30 has up to 160 steps.
STEPS = 160
WIDTH = 100


def stream_transcript(
    stream: Stream, seed: int, discount: float, steps: int = STEPS
) -> Iterator[str]:
    """The rules of a stream, then a line for each of its first `steps` steps.

    Args:
        stream: the environment.
        seed: as that of a run.
        discount: of the return that is predicted, where it is one.
        steps: at least 1; the stream has no end.
    """
    rules = inspect.getdoc(inspect.getmodule(type(stream)))
    for paragraph in rules.split("\n\n")[:2]:
        yield from textwrap.wrap(paragraph, WIDTH)
    key = jax.random.fold_in(jax.random.key(seed), 0)
    meaning, lines = _lines(stream, key, discount, steps)
    yield from textwrap.wrap(meaning, WIDTH)
    yield ""
    yield from (f"step {t:<5} {line}" for t, line in enumerate(lines))
    yield f"broken off after {steps} steps: the stream has no end"


@singledispatch
def _lines(stream: Stream, key: jax.Array, discount: float, steps: int) -> tuple[str, list[str]]:
    raise TypeError(f"no transcript of {type(stream).__name__} is known")


@_lines.register
def _(
    stream: TraceConditioning, key: jax.Array, discount: float, steps: int
) -> tuple[str, list[str]]:
    meaning = (
        "sees: the stimuli that are on, distractors by number; return: sum of the USs to come, "
        f"discounted by {discount} a step, which is to be predicted; best: the Bayes-optimal "
        "prediction from all that was seen; truth: what it would like to know."
    )

    def step(state: State, _: None) -> tuple[State, tuple[State, jax.Array]]:
        state, shown = stream.step(state)
        return state, (state, shown.observation)

    total = steps + tail_steps(discount)
    _, (states, observations) = jax.lax.scan(step, stream.start(key), length=total)
    returns = discounted_returns(observations[:, 0], discount, steps)
    _, best = optimal_predictions(optimal_values(stream, discount), observations[:steps])
    names = ["US", "CS", *(str(i) for i in range(1, stream.distractors + 1))]
    rows = zip(*map(np.asarray, (states.counters, observations, returns, best)), strict=False)
    return meaning, [
        f"sees {_listed(names, on):<16} return {value:.3f}   best {guess:.3f}   truth: "
        f"{_following(*(int(count) for count in counters[:3]))}"
        for counters, on, value, guess in rows
    ]


def _listed(names: list[str], on: np.ndarray) -> str:
    return ", ".join(name for name, is_on in zip(names, on, strict=True) if is_on) or "nothing"


def _following(clock: int, isi: int, iti: int) -> str:
    """Which onset is next, and when."""
    return f"US in {isi - clock}" if clock < isi else f"CS in {isi + iti - clock}"


@_lines.register
def _(stream: ThreeStateMDP, key: jax.Array, discount: float, steps: int) -> tuple[str, list[str]]:
    meaning = (
        "sees: the state, 1 to 3; next: the state to come, which is to be predicted; best: how "
        "likely each is to whoever knows the rules and all that was seen."
    )
    state, _ = stream.reset(key)
    _, states = jax.lax.scan(lambda s, _: (stream.step(s)[0], s), state, length=steps + 1)
    present, entered_from = np.asarray(states.present), np.asarray(states.entered_from)
    anywhere = f"{' or '.join(str(s + 1) for s in range(STATES))}, 1/{STATES} each"
    return meaning, [
        f"sees {present[t] + 1}   next {present[t + 1] + 1}   best: "
        + (f"{entered_from[t] + 1} for sure" if present[t] == MEMORY_STATE else anywhere)
        for t in range(steps)
    ]
