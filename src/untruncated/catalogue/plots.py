"""The kinds of plot a panel may ask for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from untruncated.catalogue.entry import Entry, Field
from untruncated.catalogue.programs import MSRE, better


@dataclass(frozen=True)
class PlotEntry(Entry):
    """A plot; `stages` says which runs of a configuration it shows. A drawing shows none.

    `marks` explains what is drawn, by the plot's fields where it depends on them. `curve_metric`
    has values along the run; the fields `metric` and `success_metric` may name others. A panel's
    axes are `height` inches high, and leave `right` inches for what stands beside them; a wide one
    has a row of its own.
    """

    stages: tuple[str, ...] = ("tuning", "final")
    marks: str | Callable[[Mapping[str, Any]], str] = ""
    curve_metric: str | None = None
    height: float = 1.9
    right: float = 0.0
    is_wide: bool = False

    def marks_of(self, plot: Mapping[str, Any]) -> str:
        """What is drawn, in words, in a panel with these fields."""
        return self.marks if isinstance(self.marks, str) else self.marks(plot)

    @property
    def is_drawing(self) -> bool:
        """Whether it has neither runs nor axes."""
        return not self.stages


def _lost_marks(plot: Mapping[str, Any]) -> str:
    """What stands at the top: of errors also those that are too large for the panel."""
    above = "; △, mean above the panel, and its value" if better(plot["metric"]) == "min" else ""
    return f"At the top: ×, a seed diverged{above}."


def _sweep_marks(plot: Mapping[str, Any]) -> str:
    return (
        "Markers and flat lines: mean; bars and bands: ±1 standard error; dots: single seeds, of "
        f"flat lines at the right edge; curves stand side by side at each x. {_lost_marks(plot)}"
    )


def _step_size_marks(plot: Mapping[str, Any]) -> str:
    return f"Markers: mean over seeds; bars: ±1 standard error. {_lost_marks(plot)}"


def _tuned_marks(plot: Mapping[str, Any]) -> str:
    above = " △: above the panel;" if better(plot["metric"]) == "min" else ""
    return (
        f"Markers: mean over seeds at the best step size; bars: ±1 standard error;{above} ×: a "
        "seed diverged at every step size."
    )


def _curve_marks(plot: Mapping[str, Any]) -> str:
    band = "; band: ±1 standard error" if plot["center"] == "mean" else ""
    return f"Thick: {plot['center']}; thin: single seeds{band}."


def _error_marks(plot: Mapping[str, Any]) -> str:
    laws = (
        " Laws: Table 2's, (P + 1) / (N/2) at one unroll; lines where a loss depends on θ of its "
        "own unroll alone, bands up to where it depends on all until then."
    )
    return (
        "Markers: mean over repeats; bars: ±1 standard error; ▽ at the bottom: exact but for "
        f"rounding.{laws if plot['parameters'] else ''}"
    )


_SURFACE = {
    "x_label": Field(str, meaning="the first coordinate", drawn=True),
    "y_label": Field(str, meaning="the second coordinate", drawn=True),
    "color_label": Field(str, drawn=True),
    "low": Field(float, meaning="lower end of the colours"),
    "high": Field(float, meaning="upper end of the colours"),
}
_SCALE = Field(str, "linear", choices=("linear", "log"))
_METRIC = Field(str, MSRE.name, meaning="what y is: an error, or another objective")
_Y_LABEL = Field(str, "mean squared return error", drawn=True)

PLOTS: dict[str, PlotEntry] = {
    "sweep_lines": PlotEntry(
        "untruncated.plots.sweep_lines:draw",
        {
            "x": Field(str, meaning="a sweep variable, flops or parameters"),
            "x_label": Field(str, drawn=True),
            "x_scale": _SCALE,
            "show_costs": Field(bool, False, meaning="units and FLOPs beside each point"),
            "metric": _METRIC,
            "y_label": _Y_LABEL,
        },
        marks=_sweep_marks,
    ),
    "step_sizes": PlotEntry(
        "untruncated.plots.step_sizes:draw",
        {
            "legend_title": Field(str, "", drawn=True, meaning="what the curves' labels are"),
            "metric": _METRIC,
            "y_label": _Y_LABEL,
        },
        stages=("tuning",),
        marks=_step_size_marks,
    ),
    "tuned_sweep": PlotEntry(
        "untruncated.plots.tuned_sweep:draw",
        {
            "x": Field(str, meaning="a sweep variable"),
            "x_label": Field(str),
            "metric": Field(str, meaning="what step sizes are chosen by"),
            "steps": Field(int, minimum=1, meaning="that the metric is the sum of"),
            "y_label": _Y_LABEL,
        },
        stages=("tuning",),
        marks=_tuned_marks,
    ),
    "step_size_averages": PlotEntry(
        "untruncated.plots.step_size_averages:draw",
        {
            "metric": Field(str, meaning="a metric along the run"),
            "y_label": Field(str, drawn=True),
            "steps": Field(int, minimum=1, meaning="averaged over, from the first of a run on"),
            "threshold": Field(float, meaning="a dashed line; what lies above it is counted"),
            "success_metric": Field(str, meaning="a share along the run"),
            "success_level": Field(
                float, meaning="of that in the last tenth of the steps, for a filled marker"
            ),
            "y_low": Field(float, None, nullable=True, meaning="lower end of the y axis"),
            "y_high": Field(float, None, nullable=True, meaning="upper end of the y axis"),
        },
        marks="Markers: mean over seeds, one for each configuration and step size; bars: ±1 "
        "standard error; ×: a seed diverged; numbers above: how many lie above the dashed line.",
    ),
    "learning_curves": PlotEntry(
        "untruncated.plots.learning_curves:draw",
        {
            "metric": Field(str, meaning="a metric with a value at each of many steps"),
            "x_label": Field(str, drawn=True),
            "y_label": Field(str, drawn=True),
            "reference": Field(float, None, nullable=True, meaning="a dashed line at this height"),
            "reference_label": Field(str, "", drawn=True, meaning="of that line, in the legend"),
            "per": Field(float, 1.0, above=0, meaning="y is the metric divided by this"),
            "show_seeds": Field(bool, True, meaning="a thin line for each seed"),
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
        marks=_curve_marks,
    ),
    "returns": PlotEntry(
        "untruncated.plots.returns:draw",
        {
            "metric": Field(str, "return_curve", meaning="a metric with a value in each bin"),
            "x_label": Field(str, "environment steps", drawn=True),
            "y_label": Field(str, "mean return", drawn=True),
            "random": Field(float, None, nullable=True, meaning="what random actions earn"),
            "memoryless": Field(
                float, None, nullable=True, meaning="what the best policy without memory earns"
            ),
            "optimum": Field(float, None, nullable=True, meaning="what the best player earns"),
        },
        marks="Thick: mean; thin: single seeds; band: ±1 standard error.",
    ),
    "errors_and_operations": PlotEntry(
        "untruncated.plots.errors_and_operations:draw",
        {
            "steps": Field(int, minimum=1, meaning="that a loss is the sum of"),
            "metric": replace(_METRIC, meaning="what a loss is for those who have none"),
            "y_label": _Y_LABEL,
        },
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
        right=0.62,
    ),
    "inner_parameters": PlotEntry(
        "untruncated.plots.inner_paths:draw_parameters",
        _SURFACE,
        marks="Markers: θ, with the loss of its inner problem.",
        curve_metric="theta",
        right=0.62,
    ),
    "inner_paths": PlotEntry(
        "untruncated.plots.inner_paths:draw_states",
        {**_SURFACE, "y_scale": _SCALE},
        marks="Lines: the state of an inner problem, from the star to the marker.",
        right=0.62,
    ),
    "estimator_errors": PlotEntry(
        "untruncated.plots.estimator_errors:draw",
        {
            "parameters": Field(
                int, None, nullable=True, minimum=1, meaning="P in Table 2's laws; none if null"
            ),
            "particles": Field(str, "", drawn=True, meaning="N in those laws"),
        },
        marks=_error_marks,
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
    "variance_formulas": PlotEntry(
        "untruncated.plots.variance_formulas:draw", stages=(), height=1.5, is_wide=True
    ),
    "scaling": PlotEntry(
        "untruncated.plots.scaling:draw",
        {
            "x": Field(str, meaning="a sweep variable"),
            "x_label": Field(str, drawn=True),
            "metric": Field(str, choices=("seconds", "bytes")),
        },
        marks="Markers: median of the rounds; bars: from the first to the third quartile; beside "
        "them: exponent of the line fitted to all markers, and that of the formula in (a).",
        height=1.4,
        right=0.66,
    ),
    "estimator_traits": PlotEntry(
        "untruncated.plots.estimator_traits:draw", stages=(), height=2.2, is_wide=True
    ),
    "update_times": PlotEntry(
        "untruncated.plots.update_times:draw",
        {
            "x": Field(str, meaning="a sweep variable"),
            "x_label": Field(str, drawn=True),
            "x_scale": _SCALE,
        },
        marks="Markers: median of the rounds; bars: from the first to the third quartile.",
    ),
    "three_state_mdp": PlotEntry("untruncated.plots.three_state_mdp:draw", stages=(), height=2.6),
    "recurrent_agent": PlotEntry(
        "untruncated.plots.recurrent_agent:draw", stages=(), height=2.08, is_wide=True
    ),
}
