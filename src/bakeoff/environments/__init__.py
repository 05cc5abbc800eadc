"""Which frameworks there are, what they declare, and the interpreters in which they can be used."""
