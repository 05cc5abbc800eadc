"""PyTorch: its native modules, losses and optimisers, on a processor, CUDA or MPS."""
