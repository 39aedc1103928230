"""The keys of an experiment file, by where they stand, and its numbers: `docs/experiments.md`."""

from untruncated.catalogue import PROGRAMS, Field

# What a run may say besides its steps, seeds and step sizes. Files say it for a whole figure, a
# scale, a panel or a curve; the nearest counts.
RUN_KEYS = tuple(
    dict.fromkeys(
        ["program"]
        + [kind for entry in PROGRAMS.values() for kind in entry.components]
        + [name for entry in PROGRAMS.values() for name in entry.fields if name != "steps"]
        + ["step_sizes"]
    )
)
COMPONENTS = tuple(dict.fromkeys(kind for entry in PROGRAMS.values() for kind in entry.parts))
FIGURE_KEYS = ("paper", "title", "caption", "shared", "seeds", "scales", "panels", "claims")
SEED_KEYS = ("tuning", "final")
FIRST_SEED = Field(int, minimum=0)
SCALE_KEYS = (
    "steps",
    "particle_steps",
    "step_sizes",
    "final_blocks",
    "lists",
    "run",
    "panels",
    "least_iterations",
    "acknowledged_edges",
    "ten_tuning_seeds",
)
PANEL_KEYS = ("title", "plot", "curves", "curves_of", "baseline", *RUN_KEYS)
CURVE_KEYS = ("label", "sweep", *RUN_KEYS)
CURVES_OF_KEYS = ("figure", "panels", "curves", "label")
CLAIM_KEYS = ("id", "text", "source")
# What names configurations of a figure, beside the variables that their curve sweeps over.
CHOICE_KEYS = ("panel", "curve")
EDGE_KEYS = (*CHOICE_KEYS, "why")

# The numbers of a scale, and of its lists.
SCALE_NUMBERS = {
    "steps": Field(int, minimum=1, meaning="of each seed"),
    "particle_steps": Field(int, minimum=1, meaning="in its place: an iteration costs N·K of them"),
    "least_iterations": Field(int, minimum=1, meaning="made whatever they cost"),
    "final_blocks": Field(int, minimum=1, maximum=1000, meaning="of 5 seeds"),
}
STEP_SIZE = Field(float, minimum=0)
SWEPT = Field(float, above=0)
