"""What is computed: one file a workload, written once in the vocabulary, independent of any framework."""
