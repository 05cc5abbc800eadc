"""What a person or a program reads of an outcome: terminal, Markdown, HTML, charts, JSON; all from one model."""
