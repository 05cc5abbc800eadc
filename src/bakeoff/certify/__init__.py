"""From evidence to the certificate: whether a contender computes the same thing as the reference. Pure functions."""
