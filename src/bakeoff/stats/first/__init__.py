"""The first procedure (rules 1), by which old comparisons were decided: kept so that their verdicts stay the same."""
