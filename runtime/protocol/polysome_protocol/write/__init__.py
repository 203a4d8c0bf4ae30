"""What follows from `protocol.toml` and is committed beside it: a C++ header, and tables of PROTOCOL.md."""
