"""The conductor: starts workers, runs rounds, stops when the statistics say so, judges from the records alone."""
