"""MLX: Apple's arrays, evaluated when they are asked for; models as mlx.nn modules, whole steps through mx.compile."""
