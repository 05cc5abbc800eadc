"""The worker process: the only importer of frameworks; see __main__.py."""
