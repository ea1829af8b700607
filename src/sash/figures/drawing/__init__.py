"""Figures and tables, from what was measured alone."""
