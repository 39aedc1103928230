"""Table 1: the paper's words where it has any, and the laws that measured memory follows."""

import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from untruncated.catalogue.estimator_traits import TRAITS, Sizes
from untruncated.experiments.expansion import load_figures
from untruncated.results.result_files import read_result

ROOT = Path(__file__).parents[2]
NAMES = ("S", "P", "T", "K", "N")
# PES paper, Appendix J. Full ES is ES with K = T.
PAPER = {
    "bptt": "T S",
    "truncated_bptt": "K S",
    "artbp": "K S",
    "rtrl": "2 S P + S²",
    "full_es": "N S",
    "truncated_es": "N S",
    "pes": "N (S + P)",
    "pes_analytic": "N (S + P) + (K+1) S",
}


def law(text, sizes):
    """The value of a formula as the table prints it; sizes are S, P, T, K and N."""
    product = re.sub(r"(?<=[\w)²]) (?=[\w(])", "*", text).replace("²", "**2")
    return eval(product, {"__builtins__": {}}, dict(zip(NAMES, sizes, strict=True)))


def slope(x, y):
    return np.polyfit(np.log(x), np.log(y), 1)[0]


@pytest.mark.parametrize("name", PAPER)
def test_memory_is_quoted_from_the_paper(name):
    assert TRAITS[name].memory == PAPER[name]


@pytest.mark.parametrize("name", [name for name in TRAITS if TRAITS[name].numbers])
def test_the_formula_is_what_the_table_prints(name):
    sizes = Sizes(horizon=70, truncation=11, particles=6, state=130, parameters=17)
    text = TRAITS[name].memory
    expected = law(
        text.removeprefix("O(").rstrip(")") if text[0] == "O" else text, (130, 17, 70, 11, 6)
    )
    assert TRAITS[name].numbers(sizes) == expected


@pytest.fixture(scope="module")
def sweeps():
    """Bytes of each method, by sizes of which all but one are the same."""
    (run,) = load_figures(ROOT / "experiments", "small")["pes_table1"].runs.values()
    result = read_result(ROOT / "results" / "runs" / f"{run.hash}.json", run.canonical)
    found = defaultdict(set)
    for case, held in zip(run.fields["cases"], result.metrics["bytes"].values, strict=True):
        problem, estimator = case["problem"], case["estimator"]
        sizes = (
            problem["units"],
            problem["parameters"],
            problem["horizon"],
            estimator.get("truncation", 1),
            estimator.get("particles", 1),
        )
        for index, name in enumerate(NAMES):
            others = (*sizes[:index], None, *sizes[index + 1 :])
            found[estimator["name"], name, others].add((sizes, float(held)))
    return {key: sorted(rows) for key, rows in found.items() if len(rows) > 3}


def test_memory_follows_the_law_that_the_table_calls_measured(sweeps):
    methods = {method for method, _, _ in sweeps}
    assert methods == {name for name, traits in TRAITS.items() if traits.measured != "–"}
    for (method, name, others), rows in sweeps.items():
        x = [sizes[NAMES.index(name)] for sizes, _ in rows]
        expected = slope(x, [law(TRAITS[method].measured, sizes) for sizes, _ in rows])
        measured = slope(x, [held for _, held in rows])
        np.testing.assert_allclose(
            measured, expected, atol=0.15, err_msg=f"{method} {name} {others}"
        )


@pytest.mark.parametrize("method", ["bptt", "truncated_bptt", "full_es", "truncated_es"])
def test_the_paper_leaves_the_parameters_out(sweeps, method):
    ((x, y),) = [
        ([sizes[1] for sizes, _ in rows], [held for _, held in rows])
        for (name, size, _), rows in sweeps.items()
        if name == method and size == "P"
    ]
    np.testing.assert_allclose(slope(x, y), 1, atol=0.05)
    assert "P" not in TRAITS[method].memory
