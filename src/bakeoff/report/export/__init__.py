"""Every timed block and every verdict as tables for other programs, with one documented schema (docs/export.md)."""
