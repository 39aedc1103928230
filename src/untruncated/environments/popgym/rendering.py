"""Plain text for boards: what the agent sees beside what is true."""

from collections.abc import Sequence

import numpy as np


def board(symbols: Sequence[str], width: int) -> list[str]:
    """Lines of `width` symbols each."""
    cells = np.array(list(symbols)).reshape(-1, width)
    return [" ".join(row) for row in cells]


def side_by_side(seen: Sequence[str], truth: Sequence[str]) -> str:
    """Two blocks of lines under the titles "sees" and "truth"."""
    left, right = ["sees", *seen], ["truth", *truth]
    height, width = max(len(left), len(right)), max(map(len, left))
    left += [""] * (height - len(left))
    right += [""] * (height - len(right))
    lines = [f"{a:<{width}}   {b}" for a, b in zip(left, right, strict=True)]
    return "\n".join(line.rstrip() for line in lines)
