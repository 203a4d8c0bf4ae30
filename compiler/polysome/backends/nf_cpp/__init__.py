"""The typed program to C++20 on `runtime/nf`: parse, decide and apply as separate parts (DESIGN sections 2, 5, 8)."""
