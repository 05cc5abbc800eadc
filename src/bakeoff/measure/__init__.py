"""The clock and the gauges: steps, memory, contention, the machine; never asks which framework it is."""
