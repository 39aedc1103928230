"""The kinds of plot a panel may ask for."""

from dataclasses import dataclass

from untruncated.catalogue.entry import Entry, Field


@dataclass(frozen=True)
class PlotEntry(Entry):
    """A plot; `stages` says which runs of a configuration it shows. A drawing shows none.

    `marks` explains what is drawn. Panels share one legend, except where a plot has its own.
    """

    stages: tuple[str, ...] = ("tuning", "final")
    marks: str = ""
    shares_legend: bool = True


_X_SCALE = Field(str, "linear", choices=("linear", "log"))

PLOTS: dict[str, PlotEntry] = {
    "sweep_lines": PlotEntry(
        "untruncated.plots.sweep_lines:draw",
        {
            "x": Field(str, meaning="a sweep variable, flops or parameters"),
            "x_label": Field(str),
            "x_scale": _X_SCALE,
            "show_costs": Field(bool, False, meaning="units and FLOPs beside each point"),
        },
        marks="Markers and flat lines: mean; bars and bands: ±1 standard error; dots: single "
        "seeds; ×: a seed diverged; △: mean above the panel.",
    ),
    "step_sizes": PlotEntry(
        "untruncated.plots.step_sizes:draw",
        {"legend_title": Field(str, "", meaning="what the curves' labels are")},
        stages=("tuning",),
        marks="Markers: mean over seeds; bars: ±1 standard error; ×: a seed diverged; "
        "△: above the panel.",
        shares_legend=False,
    ),
    "learning_curves": PlotEntry(
        "untruncated.plots.learning_curves:draw",
        {
            "metric": Field(str, meaning="a metric with a value at each of many steps"),
            "x_label": Field(str),
            "y_label": Field(str),
            "reference": Field(float, None, nullable=True, meaning="a dashed line at this height"),
        },
        marks="Thick: mean; band: ±1 standard error; thin: single seeds.",
    ),
    "update_times": PlotEntry(
        "untruncated.plots.update_times:draw",
        {"x": Field(str, meaning="a sweep variable"), "x_label": Field(str), "x_scale": _X_SCALE},
        marks="Markers: median of the rounds; bars: from the first to the third quartile.",
    ),
    "three_state_mdp": PlotEntry("untruncated.plots.three_state_mdp:draw", stages=()),
    "recurrent_agent": PlotEntry("untruncated.plots.recurrent_agent:draw", stages=()),
}
