"""The controller that ships, at work in a simulated system, on virtual time."""
