"""What verbs print: one JSON object, or plain tables."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def print_json(value: Mapping[str, Any]) -> None:
    """Exactly one JSON object, on one line; numbers that JSON does not have become null."""
    print(json.dumps(plain(value), allow_nan=False))


def plain(value: Any) -> Any:
    """The same in terms of what JSON has."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):  # NumPy
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], left: int = 1) -> None:
    """A table in plain text; the first `left` columns and the last of words to the left, numbers to the right."""
    cells = [list(columns), *([cell if isinstance(cell, str) else number(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    if title:
        print(title)
    for row in cells:
        parts = (
            cell.ljust(width) if i < left or columns[i] == WHAT else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        print("  " + "  ".join(parts).rstrip())


def print_measures(title: str, measures: Mapping[str, Mapping[str, Any]]) -> None:
    """Measures over seeds, one a row, with whatever is known of each: see `COLUMNS`."""
    from disdain.figures.names import MEASURES, measure_label

    shown = [name for name, keys in COLUMNS.items() if any(keys[0] in row for row in measures.values())]
    order = {name: place for place, name in enumerate(MEASURES)}
    rows = [
        [name, *(_cell(column, [row.get(key) for key in COLUMNS[column]]) for column in shown), measure_label(name)]
        for name, row in sorted(measures.items(), key=lambda item: order.get(item[0], len(order)))
    ]
    print_table(title, ("measure", *(COLUMN_NAMES[column] for column in shown), WHAT), rows)


WHAT = "what it is"
COLUMNS = {
    "mean": ("mean",),
    "std": ("std",),
    "interval": ("low", "high"),
    "range": ("least", "most"),
    "top": ("top_mean", "top_std"),
    "sampled": ("sampled", "error"),
}
COLUMN_NAMES = {
    "mean": "mean",
    "std": "± std",
    "interval": "95 % interval",
    "range": "seeds' range",
    "top": "best half ± std",
    "sampled": "sampled ± error",
}


def number(value: object) -> str:
    """A number as short as it is still told apart: 97.6, 0.983, 12,345; nothing known as '–'."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}" if abs(value) < 1 else f"{value:.2f}"


def _cell(column: str, values: Sequence[Any]) -> str:
    """One number or two."""
    if all(value is None for value in values):
        return "–"
    if column == "sampled" and abs(values[1]) < 1e-9 * abs(values[0]):  # what rounding leaves where nothing is random
        values = (values[0], 0)
    return ("–" if column == "range" else ", " if column == "interval" else " ± ").join(map(number, values))
