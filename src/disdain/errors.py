"""What a user can put right: one line that says what, where, and the nearest valid choice."""

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """A mistake in what the user gave; the command line prints it as one line and exits with 2."""


def nearest(what: str, given: object, choices: Iterable[object]) -> UserError:
    """`unknown method 'disdian': did you mean 'disdain'? (count, disdain, ensemble, unbonused)`."""
    names = [str(choice) for choice in choices]
    close = difflib.get_close_matches(str(given), names, n=1, cutoff=0.5)
    hint = f"did you mean '{close[0]}'? " if close else ""
    return UserError(f"unknown {what} {str(given)!r}: {hint}(known: {', '.join(names)})")
