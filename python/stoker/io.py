"""tf.io names."""
