"""Which elements, and when to answer."""
