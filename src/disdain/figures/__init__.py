"""Figures and tables, drawn from the result files of runs; never from a live run."""
