"""One file a subject of a comparison: its words, tables, warnings and JSON fields together, from the judge's outcome.

A new kind of measurement is a file here, and a line in the list of `bakeoff.report.pages.comparison`.
"""
