"""What experiment files may say, for editors and for readers."""

from collections.abc import Sequence
from pathlib import Path

from untruncated.basics.files import write_atomically
from untruncated.experiments.field_tables import field_page
from untruncated.experiments.schema import schema_text


def describe(outputs: Sequence[Path]) -> str:
    """Writes the files, those that end in .md as pages; returns what is to be printed.

    That is the schema, or the names of the files if there are any.
    """
    for path in outputs:
        write_atomically(path, field_page() if path.suffix == ".md" else schema_text())
    return "".join(f"{path}\n" for path in outputs) or schema_text()
