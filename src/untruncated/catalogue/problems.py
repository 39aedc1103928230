"""The unrolled systems whose outer parameters a YAML may have learned."""

from untruncated.catalogue.entry import Field, ProblemEntry
from untruncated.catalogue.traits import LINEAR, PLANE, STATES


def _horizon(default: int | None, nullable: bool = False) -> Field:
    return Field(
        int,
        default,
        minimum=1,
        maximum=2**30,
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
        traits={PLANE: {}, STATES: {}},
    ),
    "coupled_ring": ProblemEntry(
        "untruncated.problems.coupled_ring:CoupledRing",
        {
            "units": Field(int, 64, minimum=1, meaning="numbers of the state, S"),
            "parameters": Field(int, 64, minimum=1, meaning="P"),
            "horizon": _horizon(100, nullable=True),
            "unroll_loss": _unroll_loss("sum"),
        },
    ),
    "return_prediction": ProblemEntry(
        "untruncated.problems.return_prediction:ReturnPrediction",
        {
            "cell": Field(
                str,
                "linear_rtu",
                choices=("linear_rtu", "nonlinear_rtu", "lru", "gru"),
                meaning="with the defaults of its other fields",
            ),
            "width": Field(int, 8, minimum=1, meaning="units"),
            "interval": Field(int, 10, minimum=5, meaning="mean steps from CS to US"),
            "distractors": Field(int, 10, minimum=0),
            "discount": Field(float, 0.9, minimum=0, below=1),
            "horizon": _horizon(100_000),
            "stream_seed": Field(int, 0, minimum=0, maximum=2**31 - 1, meaning="draws the stream"),
            "unroll_loss": _unroll_loss("sum"),
            "recorded": Field(
                int,
                None,
                minimum=1,
                nullable=True,
                meaning="steps of the stream, of which an inner problem has a part; T if null",
            ),
        },
        cell=lambda fields: fields["cell"],
    ),
    "linear_losses": ProblemEntry(
        "untruncated.problems.linear_losses:LinearLosses",
        {
            "horizon": _horizon(8),
            "parameters": Field(int, 3, minimum=1, meaning="P"),
            "structure": Field(
                str,
                "upper_triangular",
                choices=("diagonal", "upper_triangular"),
                meaning="which unrolls' parameters a loss depends on",
            ),
            "entries": Field(
                str,
                "independent",
                choices=("identical", "independent"),
                meaning="gradients all the same, or drawn for each inner problem",
            ),
            "unroll_loss": _unroll_loss("sum"),
        },
        traits={LINEAR: {}},
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
