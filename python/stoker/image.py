"""tf.image names."""
