"""What the contract asks of every framework."""
