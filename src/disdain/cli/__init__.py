"""The command line: one verb, one file. Importing it pulls in neither JAX nor matplotlib."""

from disdain.cli.app import main

__all__ = ["main"]
