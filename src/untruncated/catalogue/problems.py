"""The unrolled systems whose outer parameters a YAML may have learned."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from untruncated.catalogue.entry import Entry, Field


@dataclass(frozen=True)
class ProblemEntry(Entry):
    """A problem; what an estimator must know of it before anything is imported.

    `horizon(fields)` is the number of steps of an inner problem, or None if it never ends, and
    `differentiable(fields)` whether its steps have derivatives of use.
    """

    horizon: Callable[[Mapping[str, Any]], int | None] = lambda fields: fields["horizon"]
    differentiable: Callable[[Mapping[str, Any]], bool] = lambda fields: True


def _horizon(default: int | None, nullable: bool = False) -> Field:
    return Field(
        int,
        default,
        minimum=1,
        nullable=nullable,
        meaning="steps of an inner problem, T" + ("; null never ends" if nullable else ""),
    )


def _unroll_loss(default: str) -> Field:
    return Field(
        str,
        default,
        choices=("sum", "last", "telescoped"),
        meaning="an unroll's loss: its steps' sum, the last step's, or that less the one before",
    )


PROBLEMS: dict[str, ProblemEntry] = {
    "influence_balancing": ProblemEntry(
        "untruncated.problems.influence_balancing:InfluenceBalancing",
        {
            "units": Field(int, 23, minimum=1),
            "positive": Field(int, 10, minimum=0, meaning="units that θ pushes up"),
            "start": Field(float, 0.5, meaning="θ before the first iteration"),
            "horizon": _horizon(None, nullable=True),
            "unroll_loss": _unroll_loss("last"),
        },
    ),
    "toy_regression": ProblemEntry(
        "untruncated.problems.toy_regression:ToyRegression",
        {
            "horizon": _horizon(100),
            "start_first": Field(float, -4.0, meaning="θ₀ before the first iteration"),
            "start_last": Field(float, -4.0, meaning="θ₁ before the first iteration"),
            "unroll_loss": _unroll_loss("sum"),
        },
    ),
    "character_lstm": ProblemEntry(
        "untruncated.problems.character_lstm:CharacterLSTM",
        {
            "horizon": _horizon(1000),
            "text": Field(
                str,
                "english",
                choices=("english", "penn_treebank", "random", "repeated"),
                meaning="what is predicted; the Penn Treebank must be on the machine",
            ),
            "units": Field(int, 5, minimum=1),
            "embedding": Field(int, 5, minimum=1),
            "vocabulary": Field(int, 50, minimum=1),
            "unroll_loss": _unroll_loss("sum"),
        },
    ),
}
