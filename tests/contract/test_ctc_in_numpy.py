from __future__ import annotations

import numpy as np
import pytest
from contract_cases.names_ctc import log_likelihood, log_likelihood_by_alignments
from contract_cases.vocabulary import log_softmax

LABELS = [[], [1], [1, 2], [2, 2], [1, 1, 2], [2, 1, 2], [1, 1, 1]]


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("frames", [1, 2, 4, 5])
def test_the_recursion_sums_over_all_alignments(labels: list[int], frames: int) -> None:
    """What all frameworks are held against is the definition: the sum over every alignment of the labels."""
    log_probs = log_softmax(np.random.RandomState(frames).standard_normal((frames, 3)) * 2)
    expected = log_likelihood_by_alignments(log_probs, labels)
    assert log_likelihood(log_probs, labels) == pytest.approx(expected, rel=1e-12)
