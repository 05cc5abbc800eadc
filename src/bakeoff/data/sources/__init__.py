"""One file a source of data, found by its name: `load(size, count, seed, location)` gives Samples."""
