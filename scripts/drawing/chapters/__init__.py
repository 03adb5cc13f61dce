"""The charts of each chapter."""
