"""The whole system in one process: the switch's program, RDMA servers and the NF, as `--engine system` runs them."""
