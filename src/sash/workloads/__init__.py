"""Data to try windows on: readings made up from a seed, the layout of public data sets, and readers
of their files."""
