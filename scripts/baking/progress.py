"""What runs, how much is done and how long it will take: a bar on a terminal, a line every few seconds elsewhere."""

import sys
import threading
import time
from typing import TextIO

EVERY = 5.0  # seconds between two lines where there is no terminal


def span(seconds: float) -> str:
    """A length of time in words: `40 s`, `3 min`."""
    return f"{max(seconds, 0):.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


class Progress:
    """One stretch of work. Each piece has a name, the seconds it should take, and how many of its kind run at the same time."""

    def __init__(self, title: str, expected: dict[str, float], lanes: dict[str, int], stream: TextIO | None = None):
        self.title, self.expected, self.lanes = title, dict(expected), lanes
        self.stream = stream or sys.stdout
        self.running: dict[str, float] = {}
        self.done: list[str] = []
        self.lock, self.stop = threading.Lock(), threading.Event()
        self.is_terminal = self.stream.isatty()
        self.ticker = threading.Thread(target=self.tick, daemon=True)

    def __enter__(self) -> "Progress":
        self.ticker.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.ticker.join()
        self.clear()

    def start(self, name: str) -> None:
        with self.lock:
            self.running[name] = time.monotonic()

    def finish(self, name: str, outcome: str) -> None:
        """Say how a piece ended."""
        with self.lock:
            self.running.pop(name, None)
            self.done.append(name)
            self.clear()
            print(f"[{len(self.done)}/{len(self.expected)}] {name} ... {outcome}", file=self.stream, flush=True)

    def left(self) -> float:
        """The seconds that what is not done should still take."""
        now = time.monotonic()
        waiting = [name for name in self.expected if name not in self.done]
        rest = {name: max(self.expected[name] - (now - self.running.get(name, now)), 1.0) for name in waiting}
        return max(sum(seconds / self.lanes[name] for name, seconds in rest.items()), *rest.values(), 0.0)

    def line(self) -> str:
        """What runs now, and since when; how much is done; how long the rest should take."""
        now = time.monotonic()
        running = [f"{name} {span(now - since)} of about {span(self.expected[name])}" for name, since in self.running.items()]
        shown = ", ".join(running[:2]) + (f" and {len(running) - 2} more" if len(running) > 2 else "")
        counts = f"{len(self.done)} of {len(self.expected)} done, about {span(self.left())} left"
        return f"{self.title}: {counts}" + (f"; {shown}" if shown else "")

    def tick(self) -> None:
        while not self.stop.wait(0.5 if self.is_terminal else EVERY):
            with self.lock:
                if self.is_terminal:
                    filled = round(20 * len(self.done) / max(len(self.expected), 1))
                    bar = f"[{'#' * filled}{'.' * (20 - filled)}]"
                    print(f"\r\033[K{bar} {self.line()[:100]}", end="", file=self.stream, flush=True)
                else:
                    print(self.line(), file=self.stream, flush=True)

    def clear(self) -> None:
        if self.is_terminal:
            print("\r\033[K", end="", file=self.stream, flush=True)
