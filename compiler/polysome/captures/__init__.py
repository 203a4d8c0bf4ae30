"""Captures: pcap and pcapng in (`read`, `merge`), pcapng out (`write`).

The library the design names for captures, dpkt (1.9.8), is the tests' second opinion and not used here: its
readers return timestamps as floats (a float64 keeps about 240 ns of today's seconds), know one interface per
pcapng file, take a cut record for a short packet, and its writer rounds to microseconds. An NF is a function of
the exact nanosecond, so captures are read and written by the few structs below.
"""
