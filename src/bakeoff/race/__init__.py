"""What makes records: a loop over stages that starts workers and runs rounds until the statistics say stop."""
