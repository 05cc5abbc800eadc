"""TensorFlow with a fault in one layer of the model, which an explanation has to find."""
