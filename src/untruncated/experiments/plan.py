"""What Snakemake needs to know: paths, targets and runs, from the experiment files and a config."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from untruncated.basics.command_lines import EXPERIMENTS, NO_FOLDER, config_text, default_results
from untruncated.basics.errors import SpecError
from untruncated.catalogue import lookup
from untruncated.catalogue.entry import not_among
from untruncated.experiments.expansion import Folder, check_scale
from untruncated.experiments.figures import SCALES, Experiments, Figure, Panel
from untruncated.experiments.sources import source_files
from untruncated.experiments.spec import RunSpec

# Where what a picture shows may be written: how it is drawn, and laws and words of methods.
_DRAWN_FROM = ("untruncated.plots.", "untruncated.statistics.", "untruncated.catalogue.")
TEMPLATES = "docs/templates"  # of the pages that are made from the tables
RULES = ("run", "table", "figure", "docs")  # of the Snakefile, beside those of the targets
CONFIG_KEYS = ("scale", "results", "figures", "experiments", "compute")


@dataclass(frozen=True, eq=False)
class Plan:
    """All figures at one scale, and where their files go.

    `compute` is false if nothing may be computed: figures are drawn from cached runs alone.
    """

    scale: str
    results: str
    figures_folder: str
    experiments: str
    compute: bool
    figures: Experiments
    folder: Folder

    def run_path(self, name: str) -> str:
        """A run's result file."""
        return f"{self.results}/runs/{name}.json"

    def run(self, name: str) -> RunSpec:
        """The run of this hash, at whatever scale; a SpecError if no experiment file has it."""
        for scale in (self.scale, *SCALES):  # another scale is expanded if it is asked for alone
            if name in self.folder.runs(scale):
                return self.folder.runs(scale)[name]
        maybe = "".join(f"; one that is broken may: {b.error}" for b in self.figures.broken)
        where = f"under {self.experiments} asks for a run {name}"
        raise SpecError(f"no experiment file {where}{maybe}")

    def panels(self, figure: str, panel: str) -> list[Panel]:
        """The panel of a figure, or all where `panel` is empty; a SpecError if there is none."""
        self.figures.check(f"{figure}{panel}")
        panels = self.figures[figure].panels
        if panel and panel not in panels:
            raise SpecError(not_among(panel, panels, f"panel of {figure}"))
        return [panels[panel]] if panel else list(panels.values())

    def tuning_path(self, name: str) -> list[str]:
        """The tuning result that a run needs, if any."""
        tuning = self.run(name).tuning
        return [] if tuning is None else [self.run_path(tuning)]

    def table_runs(self, figure: str, panel: str) -> list[str]:
        """The result files of a panel's table; with `compute` false, those that exist."""
        (shown,) = self.panels(figure, panel)
        names = dict.fromkeys(run.hash for run in shown.runs)
        paths = [self.run_path(name) for name in names]
        return paths if self.compute else [path for path in paths if Path(path).exists()]

    def all_cores(self, name: str) -> bool:
        """Whether a run measures time, so that nothing else may run beside it."""
        return lookup("program", self.run(name).fields["program"], "program").all_cores

    @property
    def tables_folder(self) -> str:
        """Where the tables of this scale go."""
        return f"{self.results}/tables/{self.scale}"

    def tables(self, figure: str, panel: str) -> list[str]:
        """The tables of a panel, or of all panels where `panel` is empty; a drawing has none."""
        panels = self.panels(figure, panel)
        return [f"{self.tables_folder}/{figure}{p.name}.csv" for p in panels if p.points]

    @property
    def pages(self) -> list[str]:
        """The pages of docs/, which are made at scale small from the results that are committed."""
        committed = (default_results("small"), "figures", "experiments")
        if (
            self.scale != "small"
            or (self.results, self.figures_folder, self.experiments) != committed
        ):
            return []
        return [str(Path("docs") / path.name) for path in sorted(Path(TEMPLATES).glob("*.md"))]

    def page_sources(self) -> list[str]:
        """What pages are made of: templates, the tables of all figures, the modules that render.

        Raises:
            SpecError: A figure that a template speaks of is broken.
        """
        templates = [path for path in sorted(Path(TEMPLATES).iterdir()) if path.is_file()]
        words = "".join(path.read_text(encoding="utf-8") for path in templates)
        for file in self.figures.broken:
            if file.name in words:
                raise file.error
        tables = [path for figure in self.figures for path in self.tables(figure, "")]
        modules = source_files("untruncated.pages.render", ("untruncated.pages.", *_DRAWN_FROM))
        return [*map(str, templates), *tables, *sorted(map(str, modules))]

    def plot_modules(self, figure: str, panel: str) -> list[str]:
        """The source files that a figure's drawing imports: who edits one wants it drawn anew."""
        kinds = {p.plot["name"] for p in self.panels(figure, panel)}
        modules = [lookup("plot", kind, "plot").location.partition(":")[0] for kind in kinds]
        files = (source_files(m, _DRAWN_FROM) for m in ["untruncated.plots.figure", *modules])
        return sorted({str(path) for found in files for path in found})

    def targets(self) -> dict[str, list[str]]:
        """The files that each target stands for, as far as their experiment files are sound."""
        files = {
            target: [
                f"{self.figures_folder}/{self.scale}/{name}.{suffix}"
                for name in sorted(names)
                for suffix in ("pdf", "png")
            ]
            for target, names in targets(self.figures).items()
        }
        return files | {"all": [*files["all"], *self.pages]}


def make_plan(config: Mapping[str, Any], given: Sequence[str] = ()) -> Plan:
    """The plan for a Snakemake config.

    Args:
        config: What Snakemake made of the config.
        given: The words after `--config` on the command line.

    Raises:
        SpecError: A config key is not valid, or there are no experiment files.
    """
    for key in config:
        if key not in CONFIG_KEYS:
            raise SpecError(f"--config {key}: {not_among(key, CONFIG_KEYS, 'key')}")
    words = dict(word.split("=", 1) for word in given if "=" in word)
    scale = str(config.get("scale", "small"))
    compute = str(config.get("compute", True)).lower()  # the command line's "false" is a text
    if compute not in ("true", "false"):
        raise SpecError(f"--config compute: must be true or false, not {config['compute']!r}")
    check_scale(scale, "--config scale")

    def folder(key: str, default: str) -> str:
        return config_folder(key, config[key], words.get(key)) if key in config else default

    experiments = folder("experiments", str(EXPERIMENTS))
    files = Folder(Path(experiments))
    return Plan(
        scale=scale,
        results=folder("results", default_results(scale)),
        figures_folder=folder("figures", "figures"),
        experiments=experiments,
        compute=compute == "true",
        figures=files.at(scale),
        folder=files,
    )


def config_folder(key: str, value: Any, word: str | None) -> str:
    """A folder of the config as Snakemake names files: no ~, no slash at its end.

    `word` is what was typed, of which Snakemake may have made a number or part of a text.

    Raises:
        SpecError: It is no text, not the one that was typed, or a name that would not come through.
    """
    if value is None or value == "":
        raise SpecError(f"--config {key}: is empty; name a folder, or leave it out")
    if not isinstance(value, str) or word not in (None, value):
        typed = str(value) if word is None else word
        try:
            way_out = f"write {key}={config_text(Path(typed))}"
        except ValueError:
            way_out = "rename the folder"
        raise SpecError(f"--config {key}: Snakemake reads {typed!r} as {value!r}; {way_out}")
    path = str(PurePath(os.path.expanduser(value)))
    if NO_FOLDER.search(path):
        raise SpecError(
            f"--config {key}: {value!r} must not have braces, quotes or control characters, "
            "nor begin with - or ~"
        )
    return path


def find_drawing(name: str, figures: Experiments) -> tuple[Figure, list[Panel]]:
    """The figure, and those of its panels, that a target stands for.

    Raises:
        SpecError: There is no such figure or panel, its file is broken, or there are several.
    """
    known = targets(figures)
    drawn = sorted(known.get(name, ()))
    if len(drawn) != 1:
        figures.check(name)
    if not drawn:
        raise SpecError(not_among(name, known, "figure"))
    if len(drawn) > 1:
        raise SpecError(f"{name} stands for {len(drawn)} drawings; name one: {', '.join(drawn)}")
    if drawn[0] in figures:
        return figures[drawn[0]], list(figures[drawn[0]].panels.values())
    figure = figures[drawn[0][:-1]]
    return figure, [figure.panels[drawn[0][-1]]]


def targets(figures: Mapping[str, Figure]) -> dict[str, set[str]]:
    """The figures and panels that each target draws.

    `rtu_figure2a` is a panel, `rtu_figure2` a figure, `figure2` every paper's Figure 2, `rtu` a
    paper, `all` everything.
    """
    known: dict[str, set[str]] = {"all": set(figures)}
    for name, figure in figures.items():
        number = name.removeprefix(f"{figure.paper}_")
        for target in (name, number, figure.paper):
            known.setdefault(target, set()).add(name)
        for panel in figure.panels:
            for target in (name, number):
                known.setdefault(f"{target}{panel}", set()).add(f"{name}{panel}")
    return known
