"""Texts in figures: filled with numbers of the runs, drawable, and true at every scale."""

import copy
import json
import re
from pathlib import Path

import pytest
import yaml

from untruncated.basics.errors import SpecError
from untruncated.catalogue import CatalogueError
from untruncated.catalogue.plots import PLOTS
from untruncated.experiments.expansion import load_figure, load_figures
from untruncated.experiments.figures import SCALES
from untruncated.experiments.reading import read_yaml
from untruncated.experiments.texts import KNOWN, drawable, figure_text, filled, glyphs, run_values

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
FILES = sorted(EXPERIMENTS.glob("*/*.yaml"))
NAMES = [f"{path.parent.name}_{path.stem}" for path in FILES]


def test_braces_stand_for_values_but_not_in_mathematics():
    values = {"steps": [2000], "truncation": [1, 5], "sigma": [0.3]}
    for text, expected in {
        "T = {truncation}": "T = 1, 5",
        "{steps:,} updates, σ = {sigma}": "2,000 updates, σ = 0.3",
        "a set {{1}}": "a set {1}",
        r"$\frac{1}{T}$ at {steps}": r"$\frac{1}{T}$ at 2000",
        r"{steps} for \$5 {sigma} \$": r"2000 for \$5 0.3 \$",
    }.items():
        assert filled(text, values, "title") == expected


@pytest.mark.parametrize("text", ["{step}", "{}", "{steps", "steps}", "{steps!r}", "{steps:d%}"])
def test_braces_that_cannot_be_filled_are_refused(text):
    with pytest.raises(
        CatalogueError, match=r"^panels\.a\.title: .*a brace itself is \{\{ or \}\}"
    ):
        filled(text, {"steps": [10]}, "panels.a.title")


def test_a_sweep_variable_comes_before_a_field_and_components_have_their_names():
    points = load_figure(EXPERIMENTS / "rtu" / "figure2.yaml", "small").panels["c"].points
    values = run_values(points)
    assert values["truncation"] == values["full"] == [45]
    assert values["size"] == [1, 2, 4, 8, 16]
    assert values["steps"] == [200_000]
    assert set(values["cell"]) == {"gru", "lru", "linear_rtu", "nonlinear_rtu"}
    assert figure_text("{size}", points, "title") == "1, 2, 4, 8, 16"


BAD_TEXTS = {
    "$x_{$": "not mathematics that matplotlib can draw",
    r"$\nosuch$": "Unknown symbol",
    "at 5 $": "has a $ without its partner",
    "$x$ at 5 $": "has a $ without its partner",
    "two\nlines": "font cannot draw",
    "\x07": "font cannot draw",
    "\ud800": "font cannot draw",
    "学习": "font cannot draw",
}


@pytest.mark.parametrize("text", BAD_TEXTS)
def test_what_matplotlib_cannot_draw_is_refused(text):
    with pytest.raises(CatalogueError, match=re.escape(BAD_TEXTS[text])) as caught:
        drawable(text, "title")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "text", ["", r"$\lambda$-returns", r"5 \$", "r ≤ 1, θ₀", r"$\frac{1}{2}$ $x$"]
)
def test_what_it_can_draw_passes(text):
    assert drawable(text, "title") == text


def test_what_is_known_to_be_in_the_font_is():
    assert {ord(character) for character in KNOWN} <= glyphs()


def test_a_label_that_matplotlib_would_hide_is_refused():
    with pytest.raises(CatalogueError, match="keeps it out of the legend"):
        drawable("_gru", "label", in_legend=True)
    assert drawable("_gru", "title") == "_gru"


def text_places() -> dict[str, tuple[str, tuple]]:
    """Where a text of each kind stands: the file, and the way to it."""
    figure2 = ("rtu/figure2.yaml", ("panels", "a"))
    places = {
        "title": (figure2[0], ("title",)),
        "caption": (figure2[0], ("caption",)),
        "panels.a.title": (figure2[0], ("panels", "a", "title")),
        "panels.a.baseline.label": (figure2[0], ("panels", "a", "baseline", "label")),
        "panels.a.curves.gru.label": (figure2[0], ("panels", "a", "curves", "gru", "label")),
        "panels.a.curves_of.label": ("rtu/figure13.yaml", ("panels", "a", "curves_of", "label")),
    }
    for path in FILES:
        for panel, raw in read_yaml(path)["panels"].items():
            kind = raw["plot"] if isinstance(raw["plot"], str) else raw["plot"]["name"]
            for field, spec in PLOTS[kind].fields.items():
                if spec.drawn and isinstance(raw["plot"], dict):  # which may leave it out
                    way = ("panels", panel, "plot", field)
                    places[f"{kind} {field}"] = (str(path.relative_to(EXPERIMENTS)), way)
    return places


PLACES = text_places()


def test_every_plot_with_a_drawn_field_stands_somewhere():
    drawn = {f"{kind} {field}" for kind, plot in PLOTS.items() for field in plot.fields}
    drawn = {name for name in drawn if PLOTS[name.split()[0]].fields[name.split()[1]].drawn}
    assert drawn <= set(PLACES)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", ["an odd $", "$x_{$", "{nothing}"])
def test_every_text_of_a_figure_is_checked_before_anything_runs(place, text, tmp_path):
    file, way = PLACES[place]
    folder = tmp_path / Path(file).parent
    folder.mkdir()
    for path in (EXPERIMENTS / file).parent.glob("*.yaml"):
        (folder / path.name).write_text(path.read_text())
    tree = json.loads(json.dumps(read_yaml(EXPERIMENTS / file)))  # no part stands twice
    inner = tree
    for key in way[:-1]:
        inner = inner[key]
    inner[way[-1]] = text
    (tmp_path / file).write_text(yaml.safe_dump(tree, allow_unicode=True))
    with pytest.raises(SpecError) as caught:
        load_figure(tmp_path / file, "paper")
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / file}: {'.'.join(way)}: ")
    assert "\n" not in message


NUMBER = re.compile(r"(?<![\w.,])[−-]?\d[\d,_]*(?:\.\d+)?(?:e-?\d+)?(?![\w])")
OTHER_PLACES = re.compile(r"(Figures?|Tables?) \d+\w*(, \d+\w*)*|≈\S+")


def numbers(text: str) -> set[float]:
    """The numbers in a text, but for those of other figures and rough ones."""
    found = NUMBER.findall(OTHER_PLACES.sub("", text))
    return {float(number.replace("−", "-").replace(",", "").rstrip(",")) for number in found}


def test_numbers_are_found_in_texts():
    text = "T = 45 (Figures 2c, 2d), N = 1,000, ≈15,000 FLOPs, σ = 1e-3, (0.15, −4.5), T², Table 1."
    assert numbers(text) == {45, 1000, 1e-3, 0.15, -4.5}


def values(points) -> set[float]:
    found = [value for values in run_values(points).values() for value in values]
    costs = [cost for point in points for cost in point.costs.values()]
    return {float(value) for value in (*found, *costs) if isinstance(value, int | float)}


@pytest.mark.parametrize("scale", SCALES)
def test_a_number_in_a_title_or_a_label_is_one_of_the_runs(scale):
    for figure in load_figures(EXPERIMENTS, scale).values():
        for panel in figure.panels.values():
            settings = [value for value in panel.plot.values() if isinstance(value, int | float)]
            shown = values(panel.points) | {float(value) for value in settings}
            for text in (panel.title, panel.baseline_label):
                assert numbers(text) <= shown, (figure.name, panel.name, text)
            for point in panel.points:
                mine = values([other for other in panel.points if other.curve == point.curve])
                assert numbers(point.label) <= mine, (figure.name, panel.name, point.label)


@pytest.fixture(scope="module")
def whole_figures(tmp_path_factory):
    """By scale: every figure with all its panels, those that the scale leaves out too."""
    folder = tmp_path_factory.mktemp("experiments")
    for path in FILES:
        tree = copy.deepcopy(read_yaml(path))
        for scale in tree.get("scales", {}).values():
            scale.pop("panels", None)
        copied = folder / path.relative_to(EXPERIMENTS)
        copied.parent.mkdir(exist_ok=True)
        copied.write_text(yaml.safe_dump(tree))
    return {scale: load_figures(folder, scale) for scale in SCALES}


# After "T = " or before such a word stands what the runs have; "20 to 40 steps" is derived from it.
SETTING = re.compile(
    rf"(?<== )(?:{NUMBER.pattern})|(?:{NUMBER.pattern})(?= (?:units|updates|parti))"
)


@pytest.mark.parametrize("name", NAMES)
def test_a_setting_in_a_caption_is_that_of_its_scale(name, whole_figures):
    """What is in the runs of one scale is in those of all, or does not stand in the caption."""
    figures = {scale: whole_figures[scale][name] for scale in SCALES}
    have = {
        scale: values([point for panel in figure.panels.values() for point in panel.points])
        for scale, figure in figures.items()
    }
    for scale, figure in figures.items():
        for setting in SETTING.findall(f"{figure.title}. {figure.caption}"):
            (number,) = numbers(setting)
            elsewhere = [other for other in SCALES if number in have[other]]
            assert number in have[scale] or not elsewhere, f"{setting} at {scale}: {elsewhere}"
