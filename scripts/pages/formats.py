"""How numbers are written, in the text of pages and in their pictures alike: the filters of `[= ... | us =]`."""

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def gbps(value):
    return f"{value:,.0f}\u00a0GB/s"


def tflops(value):
    return f"{value:,.0f}\u00a0TFLOP/s"


def us(value):
    """Microseconds, with three significant digits below a thousand."""
    return f"{value:,.0f}\u00a0µs" if value >= 100 else f"{value:.1f}\u00a0µs" if value >= 10 else f"{value:.2f}\u00a0µs"


def ms(value):
    """Milliseconds of a number of microseconds, with three significant digits below a thousand; charts say it likewise."""
    value /= 1e3
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:,.{digits}f}\u00a0ms"


def times(value):
    return f"{value:.2f}×" if value < 10 else f"{value:.0f}×"


def percent(value):
    return f"{value:.0%}"


def error(value):
    """A relative error, as a number with a power of ten."""
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}\u00a0×\u00a010{str(int(power)).translate(SUPERSCRIPTS)}"


def gigabytes(value):
    return f"{value / 1e9:.2f}\u00a0GB"


def count(value):
    return f"{value:,}"

FILTERS = (gbps, tflops, us, ms, times, percent, error, gigabytes, count)
