"""Settings that all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

# A first call compiles, which takes seconds: no deadline. The full run tries more.
settings.register_profile("default", deadline=None, max_examples=40, derandomize=True)
settings.register_profile("full", deadline=None, max_examples=400)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
