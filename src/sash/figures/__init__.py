"""The papers' evaluations on this implementation: measured, drawn, and each claim judged."""
