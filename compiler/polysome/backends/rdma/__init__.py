"""What the agents of RDMA servers are told (runtime/control/control.proto, AgentConfig)."""
