"""The FastClick backend: an NF as one batch element, with configurations to start from."""
