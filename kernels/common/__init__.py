"""What the operations share: checks of arguments, sizes, partial tiles, counters that programs share."""
