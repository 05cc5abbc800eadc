"""The scripted framework computes nothing, so it has no vocabulary: its answers come from the script."""

__all__: list[str] = []
