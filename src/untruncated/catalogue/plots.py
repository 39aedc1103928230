"""The kinds of plot a panel may ask for."""

from dataclasses import dataclass

from untruncated.catalogue.entry import Entry, Field


@dataclass(frozen=True)
class PlotEntry(Entry):
    """A plot; `stages` says which runs of a configuration it shows. A drawing shows none."""

    stages: tuple[str, ...] = ("tuning", "final")


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
    ),
    "step_sizes": PlotEntry(
        "untruncated.plots.step_sizes:draw",
        {"legend_title": Field(str, "", meaning="what the curves' labels are")},
        stages=("tuning",),
    ),
    "learning_curves": PlotEntry(
        "untruncated.plots.learning_curves:draw",
        {
            "metric": Field(str, meaning="a metric with a value at each of many steps"),
            "x_label": Field(str),
            "y_label": Field(str),
            "reference": Field(float, None, nullable=True, meaning="a dashed line at this height"),
        },
    ),
    "update_times": PlotEntry(
        "untruncated.plots.update_times:draw",
        {"x": Field(str, meaning="a sweep variable"), "x_label": Field(str), "x_scale": _X_SCALE},
    ),
    "three_state_mdp": PlotEntry("untruncated.plots.three_state_mdp:draw", stages=()),
    "recurrent_agent": PlotEntry("untruncated.plots.recurrent_agent:draw", stages=()),
}
