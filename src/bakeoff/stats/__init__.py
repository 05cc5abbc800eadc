"""From samples to intervals, stopping and verdicts: pure functions on numbers."""
