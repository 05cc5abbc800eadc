"""Studies: declared lists of comparisons, such as a sweep over batch sizes; run, gone on with, judged from records."""
