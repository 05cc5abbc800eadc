"""SENDS records to trackers of experiments: one run for each contender, grouped by comparison; one file a tracker."""
