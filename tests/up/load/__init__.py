"""Programs that load a deployment, and networks for them."""
