"""A bundle on one machine, and talking to what runs a bundle."""
