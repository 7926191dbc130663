"""The paper, equation by equation: pure functions of arrays; no networks, no worlds, no files."""
