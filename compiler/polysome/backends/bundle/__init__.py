"""The folder of a deployment: everything that its machines need, from one spec and one site (DESIGN section 10)."""
