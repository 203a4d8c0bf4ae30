"""What the switch's controller is told (runtime/control/control.proto, ControllerConfig)."""
