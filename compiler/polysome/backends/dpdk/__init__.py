"""The DPDK backend: an NF as a program on DPDK ports."""
