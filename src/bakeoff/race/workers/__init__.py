"""Worker processes, and what may be laid around them: watched, weighed, bounded."""
