"""How each experiment is measured: one file for each kind of measurement."""
