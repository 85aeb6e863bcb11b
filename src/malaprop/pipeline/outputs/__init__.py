"""Outputs: staged until they are whole, journals to resume from, keys, permissions."""
