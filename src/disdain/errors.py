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


class Fault(Exception):
    """What went wrong without the user's doing (a full disk, a loss that is not finite): one line, exit code 1."""


class Stopped(KeyboardInterrupt):
    """Training was asked to stop by a signal, and has saved where it stood."""

    def __init__(self, message: str, signal: int) -> None:
        super().__init__(message)
        self.code = 128 + signal  # the exit code that shells expect
