"""Data to try windows on: readings made up from a seed, and the layout of public data sets."""
