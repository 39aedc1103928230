"""The kinds of plot a panel may ask for."""

from untruncated.catalogue.entry import Entry, Field

PLOTS: dict[str, Entry] = {
    "sweep_lines": Entry(
        "untruncated.plots.sweep_lines:draw",
        {
            "x": Field(str, meaning="a sweep variable, flops or parameters"),
            "x_label": Field(str),
            "x_scale": Field(str, "linear", choices=("linear", "log")),
            "show_costs": Field(bool, False, meaning="units and FLOPs beside each point"),
        },
    ),
}
