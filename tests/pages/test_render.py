"""Pages from templates: what goes wrong is told with its line, nothing is left half written."""

import csv

import pytest

from untruncated.basics.errors import SuiteError
from untruncated.cli import main
from untruncated.pages.figures import Figures
from untruncated.pages.render import render_pages, write_pages
from untruncated.tables.panel_tables import COLUMNS


@pytest.fixture
def folders(tmp_path):
    templates, tables = tmp_path / "templates", tmp_path / "tables"
    templates.mkdir(), tables.mkdir()
    rows = [
        {"curve": curve, "stage": "final", "metric": "msre", "seed": seed, "value": value + seed}
        for curve, value in (("gru", 2), ("rtu", 12))
        for seed in (-1, 0, 1)
    ]
    with open(tables / "made1a.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return templates, tables


def test_numbers_and_words_come_from_the_table(folders):
    templates, tables = folders
    (templates / "_part.txt").write_text("Means.\n")
    (templates / "page.md").write_text(
        '{% include "_part.txt" %}\n'
        '{% set gru, rtu = final("made1a", "gru"), final("made1a", "rtu") %}\n'
        "The GRU, {{ gru }}, is {{ compare(gru, rtu) }} the RTU, {{ rtu }}"
        " ({{ compare(gru, rtu).evidence }}, {{ gru.seeds }} seeds).\n"
    )
    expected = (
        "Means.\nThe GRU, 2.0 ± 0.6, is ahead of the RTU, 12.0 ± 0.6 (p = 0.00026, 3 seeds).\n"
    )
    assert render_pages(templates, Figures(tables)) == {"page.md": expected}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{{ final("made1b", "gru") }}', r"made1b\.csv: cannot be read"),
        ('{{ final("made1a", "grru") }}', "unknown curve 'grru'"),
        ("{{ gruu }}", "'gruu' is undefined"),
        ('{{ final("made1a", "gru").maen }}', "no attribute 'maen'"),
        ('{{ final("made1a") }}', "missing 1 required positional argument"),
        ("{{ number('a') }}", "must be real number"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{% if %}", "Expected an expression"),
        ('{% include "_none.txt" %}', r"_none\.txt"),
    ],
)
def test_an_error_names_the_template_and_the_line(folders, line, message):
    templates, tables = folders
    (templates / "page.md").write_text(f"One.\nTwo.\n{line}\n")
    with pytest.raises(SuiteError, match=message) as error:
        render_pages(templates, Figures(tables))
    assert str(error.value).startswith(f"{templates / 'page.md'}, line 3: ")


def test_an_error_in_a_part_names_the_part(folders):
    templates, tables = folders
    (templates / "_part.txt").write_text("\n\n{{ gruu }}\n")
    (templates / "page.md").write_text('{% include "_part.txt" %}\n')
    with pytest.raises(SuiteError, match=r"_part\.txt, line 3: 'gruu' is undefined"):
        render_pages(templates, Figures(tables))


def test_one_bad_page_leaves_all_as_they_were(folders, tmp_path):
    templates, tables = folders
    (templates / "a.md").write_text("new\n")
    (templates / "b.md").write_text("{{ gruu }}\n")
    (tmp_path / "a.md").write_text("old\n")
    with pytest.raises(SuiteError, match=r"b\.md, line 1"):
        write_pages(templates, tables, tmp_path)
    assert (tmp_path / "a.md").read_text() == "old\n"


def test_the_command(folders, tmp_path, capsys):
    templates, tables = folders
    where = ["--templates", str(templates), "--tables", str(tables), "--output", str(tmp_path)]
    assert main(["docs", *where]) == 1
    assert capsys.readouterr().err.startswith(f"error: {templates}: no templates")
    (templates / "a.md").write_text("{{ made }}\n")
    assert main(["docs", *where]) == 1
    assert capsys.readouterr().err == f"error: {templates / 'a.md'}, line 1: 'made' is undefined\n"
    (templates / "a.md").write_text("{{ number(single('made1a', 'msre', seed=0, curve='gru')) }}\n")
    assert main(["docs", *where]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'a.md'}\n"
    assert (tmp_path / "a.md").read_text() == "2.00\n"
