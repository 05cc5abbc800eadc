"""Reads records: from what trials left to what is known; pure, and nothing here starts anything."""
