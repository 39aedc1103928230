"""The PES paper's Table 2: how the variance of PES depends on the number of unrolls."""


def relative_pes_variance(structure: str, entries: str, unrolls: int, parameters: int) -> float:
    """What the variance of one pair is in units of ‖g‖², g being the total gradient.

    The four cells of the PES paper's Table 2, with T unrolls and P parameters. Where entries are
    independent the expectation of the variance is divided by that of ‖g‖².

    Args:
        structure: Which g[m, t] are not zero: "diagonal", or "upper_triangular", those with m ≤ t.
        entries: "identical" or "independent" with mean zero.
        unrolls: T.
        parameters: P.

    Raises:
        ValueError: There is no such cell.
    """
    t, p = unrolls, parameters
    cells = {
        ("diagonal", "identical"): 1 / t + p / 2 + p / (2 * t),
        ("diagonal", "independent"): 1 + p * (t + 1) / 2,
        ("upper_triangular", "identical"): 2 / 3 * (p + 1) * (1 + 1 / (t * (t + 1))),
        ("upper_triangular", "independent"): 1 + p * (2 * t + 1) / 3,
    }
    if (structure, entries) not in cells:
        raise ValueError(f"no cell {(structure, entries)}; there are {', '.join(map(str, cells))}")
    return cells[structure, entries]
