"""Parts of the benchmarks of the service: serve.py, serve_chaos.py and serve_hostile.py."""
