"""A pipeline file: where rows come from, what is asked of them, and where answers go."""

from sash.pipeline.problems import PipelineError, Problem
from sash.pipeline.reading import read_pipeline

__all__ = ["PipelineError", "Problem", "read_pipeline"]
