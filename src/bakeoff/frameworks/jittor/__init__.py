"""Jittor: its own modules, losses and optimisers, on a processor; every operation is compiled as it is first met."""
