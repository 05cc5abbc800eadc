"""What is run, one file a kind of trial: which trials are wanted, and the script of commands for each."""
