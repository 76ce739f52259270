"""PyTensor's place for DebugMode, NanGuardMode and MonitorMode."""
