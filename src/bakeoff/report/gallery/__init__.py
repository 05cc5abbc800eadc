"""A static site of many comparisons and studies: a list to search, and a page for each that leads to its records."""
