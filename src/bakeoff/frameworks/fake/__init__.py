"""A scripted framework: no dependency, no arithmetic; its durations, noise and faults are its options.

It drives the whole pipeline in milliseconds, in virtual time, for tests and for trying a results directory.
"""
