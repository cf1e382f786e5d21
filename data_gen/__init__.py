"""Make training data and benchmarks: `python -m data_gen pipeline=training generator=rules limit=200`."""
