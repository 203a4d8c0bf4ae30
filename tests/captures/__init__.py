"""Tests of polysome.captures."""
