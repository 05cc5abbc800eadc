"""One file for each source of data, found by its name: `load(size, count, seed, location)` returns a DataSet."""
