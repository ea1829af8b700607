"""What the papers claim in numbers, and what was measured here says of it."""
