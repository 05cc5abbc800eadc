"""A study held against published figures: one model; terminal, Markdown, page, pictures and JSON of it."""
