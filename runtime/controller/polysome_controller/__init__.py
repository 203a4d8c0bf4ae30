"""The controller of a deployment: it fills the switch's tables and keeps queue pairs, load and config in order."""
