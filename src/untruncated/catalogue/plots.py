"""The kinds of plot a panel may ask for."""

from dataclasses import dataclass

from untruncated.catalogue.entry import Entry, Field


@dataclass(frozen=True)
class PlotEntry(Entry):
    """A plot; `stages` says which runs of a configuration it shows. A drawing shows none.

    `marks` explains what is drawn and may name the plot's fields in braces. Panels share one
    legend, except where a plot has its own. `curve_metric` has values along the run; a field
    `metric` names another one.
    """

    stages: tuple[str, ...] = ("tuning", "final")
    marks: str = ""
    curve_metric: str | None = None
    shares_legend: bool = True


_SURFACE = {
    "x_label": Field(str, meaning="the first coordinate", drawn=True),
    "y_label": Field(str, meaning="the second coordinate", drawn=True),
    "color_label": Field(str, drawn=True),
    "low": Field(float, meaning="lower end of the colours"),
    "high": Field(float, meaning="upper end of the colours"),
}
_SCALE = Field(str, "linear", choices=("linear", "log"))

PLOTS: dict[str, PlotEntry] = {
    "sweep_lines": PlotEntry(
        "untruncated.plots.sweep_lines:draw",
        {
            "x": Field(str, meaning="a sweep variable, flops or parameters"),
            "x_label": Field(str, drawn=True),
            "x_scale": _SCALE,
            "show_costs": Field(bool, False, meaning="units and FLOPs beside each point"),
        },
        marks="Markers and flat lines: mean; bars and bands: ±1 standard error; dots: single "
        "seeds; ×: a seed diverged; △: mean above the panel.",
    ),
    "step_sizes": PlotEntry(
        "untruncated.plots.step_sizes:draw",
        {"legend_title": Field(str, "", drawn=True, meaning="what the curves' labels are")},
        stages=("tuning",),
        marks="Markers: mean over seeds; bars: ±1 standard error; ×: a seed diverged; "
        "△: above the panel.",
        shares_legend=False,
    ),
    "tuned_sweep": PlotEntry(
        "untruncated.plots.tuned_sweep:draw",
        {
            "x": Field(str, meaning="a sweep variable"),
            "x_label": Field(str),
            "metric": Field(str, meaning="what step sizes are chosen by"),
            "steps": Field(int, minimum=1, meaning="that the metric is the sum of"),
        },
        stages=("tuning",),
        marks="Markers: mean over seeds at the best step size; bars: ±1 standard error; △: above "
        "the panel; ×: a seed diverged at every step size.",
    ),
    "learning_curves": PlotEntry(
        "untruncated.plots.learning_curves:draw",
        {
            "metric": Field(str, meaning="a metric with a value at each of many steps"),
            "x_label": Field(str, drawn=True),
            "y_label": Field(str, drawn=True),
            "reference": Field(float, None, nullable=True, meaning="a dashed line at this height"),
            "counts": Field(
                str,
                "steps",
                choices=("steps", "inner_steps", "particle_steps"),
                meaning="what x counts",
            ),
            "x_scale": _SCALE,
            "y_scale": _SCALE,
            "y_low": Field(float, None, nullable=True, meaning="lower end of the y axis"),
            "y_high": Field(float, None, nullable=True, meaning="upper end of the y axis"),
            "center": Field(
                str, "mean", choices=("mean", "median"), meaning="what the thick line shows"
            ),
        },
        marks="Thick: {center}; thin: single seeds; band, around a mean: ±1 standard error.",
    ),
    "errors_and_operations": PlotEntry(
        "untruncated.plots.errors_and_operations:draw",
        {"steps": Field(int, minimum=1, meaning="that a loss is the sum of")},
        marks="Thick: mean; thin: single seeds; band: ±1 standard error; flat: mean over the last "
        "tenth of a run, whatever it cost.",
        curve_metric="loss_curve",
    ),
    "surface_paths": PlotEntry(
        "untruncated.plots.surface_paths:draw",
        {
            **_SURFACE,
            "start_x": Field(float, meaning="where the paths start"),
            "start_y": Field(float, meaning="where the paths start"),
        },
        marks="Lines: θ along the run, one seed each, from the star to the dot.",
        curve_metric="theta",
    ),
    "inner_parameters": PlotEntry(
        "untruncated.plots.inner_paths:draw_parameters",
        _SURFACE,
        marks="Markers: θ, with the loss of its inner problem.",
        curve_metric="theta",
    ),
    "inner_paths": PlotEntry(
        "untruncated.plots.inner_paths:draw_states",
        {**_SURFACE, "y_scale": _SCALE},
        marks="Lines: the state of an inner problem, from the star to the marker.",
    ),
    "estimator_errors": PlotEntry(
        "untruncated.plots.estimator_errors:draw",
        marks="Markers: mean over repeats; bars: ±1 standard error; ▽ at the bottom: exact but for "
        "rounding.",
    ),
    "variance_laws": PlotEntry(
        "untruncated.plots.variance_laws:draw",
        {
            "x": Field(str, meaning="a sweep variable"),
            "x_label": Field(str, drawn=True),
            "square": Field(
                str, "", meaning="label of a line that grows as x²; none if empty", drawn=True
            ),
        },
        marks="Markers: mean over seeds; bars: ±1 standard error.",
    ),
    "variance_formulas": PlotEntry("untruncated.plots.variance_formulas:draw", stages=()),
    "scaling": PlotEntry(
        "untruncated.plots.scaling:draw",
        {
            "x": Field(str, meaning="a sweep variable"),
            "x_label": Field(str, drawn=True),
            "metric": Field(str, choices=("seconds", "bytes")),
        },
        marks="Markers: median of the rounds; bars: from the first to the third quartile; in the "
        "legends: exponent of the line fitted to all markers, and that of the formula in (a).",
        shares_legend=False,
    ),
    "estimator_traits": PlotEntry("untruncated.plots.estimator_traits:draw", stages=()),
    "update_times": PlotEntry(
        "untruncated.plots.update_times:draw",
        {
            "x": Field(str, meaning="a sweep variable"),
            "x_label": Field(str, drawn=True),
            "x_scale": _SCALE,
        },
        marks="Markers: median of the rounds; bars: from the first to the third quartile.",
    ),
    "three_state_mdp": PlotEntry("untruncated.plots.three_state_mdp:draw", stages=()),
    "recurrent_agent": PlotEntry("untruncated.plots.recurrent_agent:draw", stages=()),
}
