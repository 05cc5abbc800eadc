"""TensorFlow: Keras 3 layers in one tf.function."""
