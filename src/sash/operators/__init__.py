"""What is aggregated: monoids, their traits, their laws."""
