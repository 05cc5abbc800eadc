"""JAX: models as flax.nnx modules, split into a graph and arrays; one jitted function a step; optimisers by optax."""
