"""Whether a cell's RTRL follows the paper's equations or what the paper's public code computes."""

FIDELITIES = ("exact", "reference")


def is_reference(fidelity: str) -> bool:
    """Whether `fidelity` is "reference".

    Raises:
        ValueError: It is neither "exact" nor "reference".
    """
    if fidelity not in FIDELITIES:
        raise ValueError(f"unknown fidelity {fidelity!r}: choose from {FIDELITIES}")
    return fidelity == "reference"
