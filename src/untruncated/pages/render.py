"""Renders the templates of docs/ from the tables of one scale.

A page is a function of its template and of the tables: no dates, no random numbers, numbers rounded
so that they are written alike on every machine.
"""

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import jinja2

from untruncated.basics.errors import SuiteError
from untruncated.basics.files import write_atomically
from untruncated.pages import facts
from untruncated.pages.figures import Figures
from untruncated.statistics import comparisons, samples, words

_PURE = (
    samples.best,
    comparisons.compare,
    comparisons.compare_each,
    comparisons.ratios,
    comparisons.tally,
    samples.worst,
    words.count,
    words.fixed,
    words.in_words,
    words.listing,
    words.number,
    words.p_value,
    words.percent,
    words.plus_minus,
    words.span,
    words.step_size,
)
_BUILT_IN = (abs, enumerate, len, max, min, range, round, sum, zip)


def page_templates(templates: Path) -> list[Path]:
    """The templates that are pages; other files there are parts of them."""
    return sorted(Path(templates).glob("*.md"))


def render_pages(templates: Path, figures: Figures) -> dict[str, str]:
    """The text of every page, by its file name.

    Raises:
        SuiteError: There is no template, or one asks for what the tables do not have; the message
            names the template and the line.
    """
    pages = page_templates(templates)
    if not pages:
        raise SuiteError(f"{templates}: no templates (*.md) here; --templates names another folder")
    environment = _environment(Path(templates), figures)
    return {path.name: _render(environment, path) for path in pages}


def write_pages(templates: Path, tables: Path, output: Path) -> list[Path]:
    """Writes every page into the folder `output`; returns their paths.

    All are made from the folder `tables` before the first is written.

    Raises:
        SuiteError: As `render_pages`, or a page cannot be written.
    """
    rendered = render_pages(templates, Figures(tables))
    for name, text in rendered.items():
        write_atomically(Path(output) / name, text)
    return [Path(output) / name for name in rendered]


def _environment(templates: Path, figures: Figures) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    names = {function.__name__: function for function in (*_PURE, *_BUILT_IN)}
    of_tables = ["table", *(name for name in dir(Figures) if not name.startswith("_"))]
    environment.filters |= names
    environment.globals |= names | {name: getattr(figures, name) for name in of_tables}
    environment.globals |= {f.__name__: _bound(f, figures) for f in facts.FACTS}
    return environment


def _bound(fact: Callable[..., Any], figures: Figures) -> Callable[..., Any]:
    return lambda *arguments, **fields: fact(figures, *arguments, **fields)


def _render(environment: jinja2.Environment, path: Path) -> str:
    try:
        return environment.get_template(path.name).render()
    except jinja2.TemplateSyntaxError as error:
        raise SuiteError(
            f"{path.parent / (error.name or path.name)}, line {error.lineno}: {error.message}"
        ) from error
    except (
        SuiteError,
        jinja2.TemplateError,
        ArithmeticError,
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
    ) as error:
        raise SuiteError(f"{_where(path, error.__traceback__)}: {error}") from error


def _where(path: Path, trace: TracebackType | None) -> str:
    """The innermost line of a template that an error came through."""
    place = str(path)
    while trace is not None:
        source = Path(trace.tb_frame.f_code.co_filename)
        if source.parent == path.parent:
            place = f"{source}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place
