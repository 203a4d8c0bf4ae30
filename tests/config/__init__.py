"""Tests of polysome.config."""
