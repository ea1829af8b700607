"""How a window is kept: one algorithm, one file."""
