"""docs/costs.md says what the catalogue computes."""

import re
from pathlib import Path

import pytest

from untruncated.experiments.widths import component, flops, parameters, resolve_width

PAGE = (Path(__file__).parents[2] / "docs" / "costs.md").read_text()
CELLS = {
    "linear RTU": {"name": "linear_rtu"},
    "nonlinear RTU": {"name": "nonlinear_rtu"},
    "LRU": {"name": "lru"},
    "nonlinear LRU": {"name": "nonlinear_lru"},
    "block-diagonal": {"name": "block_diagonal"},
    "block-diagonal, `halved`": {"name": "block_diagonal", "halved": True},
    "GRU": {"name": "gru"},
    "feedforward": {"name": "feedforward"},
    "vanilla RNN": {"name": "vanilla_rnn"},
    "vanilla RNN, `bias`": {"name": "vanilla_rnn", "bias": True},
}
ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split("|"))
    for line in PAGE.partition("| cell | credit |")[2].splitlines()[2:]
    if (line.startswith("|") and "T-BPTT |" in line) or "| RTRL |" in line
]


def value(formula, **sizes):
    """What a formula such as 3T(4nd + 10n) comes to: neighbours are factors."""
    tokens = re.findall(r"\d+|[a-zA-Z]|[()+]", formula)
    text = ""
    for before, token in zip(["(", *tokens], tokens, strict=False):
        factors = before not in "(+" and token not in ")+"
        text += ("*" if factors else "") + str(sizes.get(token, token))
    return eval(text)


def test_every_row_is_read():
    assert [row[0] for row in ROWS if row[1] == "T-BPTT"] == [
        name for name in CELLS if "halved" not in name
    ]
    assert len(ROWS) == len(CELLS) + 5


@pytest.mark.parametrize(("cell", "credit", "operations", "learned"), ROWS)
def test_formulas_are_those_of_the_catalogue(cell, credit, operations, learned):
    for n, d, m, truncation in ((3, 5, 2, 7), (20, 12, 20, 45)):
        more = {"outputs": m} if "LRU" in cell else {}
        of = component("cell", {**CELLS[cell], "width": n, **more}, "cell")
        names = {"RTRL": "rtrl", "T-BPTT": {"name": "truncated_bptt", "truncation": truncation}}
        sizes = {"n": n, "h": n, "d": d, "m": m, "T": truncation}
        assert value(operations, **sizes) == flops(
            of, component("credit", names[credit], "credit"), d
        )
        assert value(learned, **sizes) == parameters(of, d)


def test_widths_within_the_budget_are_those_that_the_page_lists():
    table = {
        cells[0]: [int(cell.replace(",", "")) for cell in cells[1:]]
        for cells in (
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in PAGE.partition("\n| T |")[2].splitlines()
            if line.startswith(("| GRU", "| FLOPs", "| LRU"))
        )
    }
    lengths = re.search(r"\n\| T \|(.*)\|\n", PAGE)[1].split("|")
    widths = {"gru": table["GRU, h"], "lru": table["LRU (m = n), n"]}
    for name, listed in widths.items():
        for truncation, width in zip(map(int, lengths), listed, strict=True):
            credit = {"name": "truncated_bptt", "truncation": truncation}
            cell = {"name": name, "width": {"flops": 15_000}}
            assert resolve_width(cell, credit, 12, "cell")["width"] == width
    used = [
        flops(
            component("cell", {"name": "gru", "width": width}, "cell"),
            {"name": "truncated_bptt", "truncation": int(truncation)},
            12,
        )
        for truncation, width in zip(lengths, widths["gru"], strict=True)
    ]
    assert used == table["FLOPs used"]
