"""The kinds of experiment: which components each composes, and its own fields."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from untruncated.catalogue.entry import Entry, Field
from untruncated.catalogue.estimators import FullESFields
from untruncated.catalogue.objective import Direction, Objective
from untruncated.catalogue.record import fields_of
from untruncated.catalogue.traits import (
    EIGENVALUES,
    EPISODES,
    IMMEDIATE,
    LINEAR,
    OPTIMUM,
    PLANE,
    PREDICTION,
    ROLLOUTS,
    STATES,
    STREAM,
    SYMBOLS,
)

# A multiple of ten has at least ten equal bins for its curve; a step's number fits 32 bits.
_STEPS = Field(
    int,
    minimum=10,
    maximum=2_000_000_000,
    multiple_of=10,
    meaning="environment steps of each seed, or its iterations",
)


MSRE = Objective("msre")


@dataclass(frozen=True)
class ProgramEntry(Entry):
    """A program; `components` are the kinds of component it takes.

    A tuned program has step sizes, of which the one with the best mean `objective` is taken; with
    `tuning_optional` a curve that gives its step sizes is not tuned. One that measures several
    things side by side takes a list of them, called `members`, each with the components
    `member_parts`. One that measures time wants `all_cores` for itself; one that compares times
    of small problems with those of large ones `compiles_every_loop_whole`. One that is not `random`
    takes one seed, whatever the figure. `counts` is what its `steps` are, in a word.
    `needs` says which of their traits it asks of components of a kind; with `ends`, inner problems
    must end. A cell sees the observation or, with `encoded`, so many features made of it.
    """

    components: tuple[str, ...] = ()
    tuned: bool = True
    tuning_optional: bool = False
    objective: Objective = MSRE
    members: str = ""
    member_parts: tuple[str, ...] = ()
    all_cores: bool = False
    compiles_every_loop_whole: bool = False
    random: bool = True
    counts: str = "steps"
    needs: Mapping[str, str] = field(default_factory=dict)
    ends: bool = False
    encoded: int = 0

    @property
    def parts(self) -> tuple[str, ...]:
        """All kinds of component, of the run and of its members."""
        return self.components + self.member_parts


# Fields that every program has.
COMMON: dict[str, Field] = {
    "precision": Field(str, "float32", choices=("float32", "float64")),
    "fidelity": Field(
        str,
        "exact",
        choices=("exact", "reference"),
        meaning="the papers' equations, or what their public code computes where that differs",
    ),
}

_UNROLL_FIDELITY = Field(
    str,
    "exact",
    choices=("exact", "reference"),
    meaning="the papers' equations, or their public code's; 'reference' wants K to divide T",
)

PROGRAMS: dict[str, ProgramEntry] = {
    "online_prediction": ProgramEntry(
        "untruncated.programs.online_prediction:build",
        {"steps": _STEPS, **COMMON},
        components=("environment", "cell", "credit", "learner"),
        needs={"environment": STREAM, "learner": PREDICTION},
    ),
    "policy_optimisation": ProgramEntry(
        "untruncated.programs.policy_optimisation:build",
        {
            "steps": Field(
                int,
                minimum=1,
                maximum=2_000_000_000,
                meaning="environment steps of each seed, rounded down to whole updates",
            ),
            "also_sees": Field(
                str,
                "nothing",
                choices=("nothing", "action", "action_and_reward"),
                meaning="what of the last step is appended to the observation",
            ),
            "normalise": Field(
                str,
                "nothing",
                choices=("nothing", "observations", "observations_and_rewards"),
                meaning="by running statistics",
            ),
            **COMMON,
        },
        components=("environment", "cell", "credit", "learner"),
        objective=Objective("return", "max"),
        needs={"environment": EPISODES, "learner": ROLLOUTS},
        encoded=64,
    ),
    "optimal_prediction": ProgramEntry(
        "untruncated.programs.optimal_prediction:build",
        {
            "steps": _STEPS,
            "discount": Field(float, 0.966, minimum=0, below=1),
            **COMMON,
        },
        components=("environment",),
        tuned=False,
        needs={"environment": OPTIMUM},
    ),
    "next_observation": ProgramEntry(
        "untruncated.programs.next_observation:build",
        {
            "steps": _STEPS,
            "optimiser": Field(
                str, "adam", choices=("adam", "sgd"), meaning="what makes a step of a gradient"
            ),
            **COMMON,
        },
        components=("environment", "cell", "credit"),
        tuning_optional=True,
        objective=Objective("cross_entropy"),
        needs={"environment": SYMBOLS, "cell": EIGENVALUES},
    ),
    "update_timing": ProgramEntry(
        "untruncated.programs.update_timing:build",
        {
            "steps": Field(int, minimum=10, maximum=1_000_000, meaning="updates in each round"),
            "repeats": Field(int, 9, minimum=1, maximum=1000, meaning="rounds"),
            **COMMON,
        },
        components=("environment", "learner"),
        needs={"environment": STREAM, "learner": IMMEDIATE},
        tuned=False,
        members="agents",
        member_parts=("cell", "credit"),
        all_cores=True,
        counts="calls",
    ),
    "variance_law": ProgramEntry(
        "untruncated.programs.variance_law:build",
        {"steps": _STEPS, **COMMON},
        components=("problem",),
        tuned=False,
        needs={"problem": LINEAR},
        counts="estimates",
    ),
    "estimator_costs": ProgramEntry(
        "untruncated.programs.estimator_costs:build",
        {
            "steps": Field(int, minimum=1, maximum=1_000_000, meaning="gradients in each round"),
            "repeats": Field(int, 9, minimum=1, maximum=1000, meaning="rounds"),
            **COMMON,
            "fidelity": _UNROLL_FIDELITY,
        },
        tuned=False,
        members="cases",
        member_parts=("problem", "estimator"),
        all_cores=True,
        compiles_every_loop_whole=True,
        counts="calls",
    ),
    "outer_surface": ProgramEntry(
        "untruncated.programs.surfaces:build_outer",
        {
            "steps": Field(int, minimum=2, maximum=120, meaning="points of either parameter"),
            "low": Field(float, meaning="smallest value of either parameter"),
            "high": Field(float, meaning="largest value of either parameter"),
            **COMMON,
        },
        components=("problem",),
        tuned=False,
        random=False,
        needs={"problem": PLANE},
        ends=True,
    ),
    "inner_surface": ProgramEntry(
        "untruncated.programs.surfaces:build_inner",
        {
            "steps": Field(int, minimum=2, maximum=120, meaning="points of either coordinate"),
            "low_0": Field(float, meaning="smallest value of the state's first coordinate"),
            "high_0": Field(float, meaning="largest value of the first coordinate"),
            "low_1": Field(float, meaning="smallest value of the second coordinate"),
            "high_1": Field(float, meaning="largest value of the second coordinate"),
            "scale_1": Field(
                str, "linear", choices=("linear", "log"), meaning="spacing of the second coordinate"
            ),
            **COMMON,
        },
        components=("problem",),
        tuned=False,
        random=False,
        needs={"problem": STATES},
    ),
    "inner_trajectory": ProgramEntry(
        "untruncated.programs.inner_trajectory:build",
        COMMON,
        components=("problem",),
        tuned=False,
        random=False,
        ends=True,
    ),
    "meta_optimisation": ProgramEntry(
        "untruncated.programs.meta_optimisation:build",
        {
            "steps": _STEPS,
            "groups": Field(
                int, 1, minimum=1, meaning="copies of the estimator that start anew at other times"
            ),
            "evaluation_steps": Field(
                int,
                None,
                minimum=1,
                nullable=True,
                meaning="steps unrolled to evaluate θ; all of an inner problem if null",
            ),
            "evaluations": Field(int, 1, minimum=1, meaning="inner problems that it averages over"),
            **COMMON,
            "fidelity": _UNROLL_FIDELITY,
        },
        components=("problem", "estimator", "optimiser"),
        tuning_optional=True,
        objective=Objective("loss"),
        counts="updates",
    ),
    "estimator_variance": ProgramEntry(
        "untruncated.programs.estimator_variance:build",
        {
            "theta_seed": Field(int, 0, minimum=0, maximum=2**31 - 1, meaning="draws θ"),
            "truth": Field(
                str, "bptt", choices=("bptt", "full_es"), meaning="what estimates are compared with"
            ),
            "truth_particles": Field(int, 5000, minimum=2, multiple_of=2, meaning="of full_es"),
            "truth_sigma": replace(
                fields_of(FullESFields)["sigma"], default=1e-3, meaning="of full_es"
            ),
            **COMMON,
            "fidelity": _UNROLL_FIDELITY,
        },
        components=("problem", "estimator"),
        tuned=False,
    ),
}


def better(metric: str) -> Direction:
    """Which way a metric is better: that of the objective that it is; of all else, lower."""
    objectives = [entry.objective for entry in PROGRAMS.values() if entry.tuned]
    return next((one.direction for one in objectives if one.covers(metric)), "min")
