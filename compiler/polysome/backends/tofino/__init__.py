"""The P4 program of a Tofino switch (DESIGN sections 6 and 7)."""
