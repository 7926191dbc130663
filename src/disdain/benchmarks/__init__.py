"""Benchmarks: what one run on one machine measured, as ratios; `disdain bench NAME`."""
