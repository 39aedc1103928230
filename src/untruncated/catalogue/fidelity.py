"""Whether what is computed are the papers' equations or what their public code makes of them."""

from typing import Annotated

from untruncated.catalogue.field import Field

FIDELITIES = ("exact", "reference")
Fidelity = Annotated[
    str,
    Field(
        choices=FIDELITIES,
        meaning="the papers' equations, or what their public code computes where that differs",
    ),
]
