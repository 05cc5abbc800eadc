"""Records on disk: written once, atomically; a damaged one is set aside and named, never guessed at."""
