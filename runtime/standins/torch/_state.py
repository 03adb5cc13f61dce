"""What a program may leave behind in torch: settings, and the state of the random numbers."""

from torch import _core, _nn, _random, _show

_SHOWN = dict(_show.options)


def reset() -> None:
    """As when torch is imported."""
    _core._grad[:] = [True]
    _core._default[:] = [_core.float32]
    _core._hooks.clear()
    _nn._autocast.clear()
    _show.options.clear()
    _show.options.update(_SHOWN)
    _random.default_generator.manual_seed(67280421310721)
