"""What a person or a program reads of a study: its points side by side, as tables, curves and one JSON object."""
