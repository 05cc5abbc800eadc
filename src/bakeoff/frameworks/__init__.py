"""HOW each framework computes a workload: one folder a framework, each blind to the others; see engine.py."""
