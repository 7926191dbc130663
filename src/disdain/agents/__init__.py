"""Agents: parameters and how they are used; init, act, update."""
