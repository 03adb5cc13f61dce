"""Seven variants of attention, each a function of positions, and attention written out as matrices to hold them against."""

# --8<-- [start:imports]
import torch
# --8<-- [end:imports]


# --8<-- [start:masks]
def causal(batch, head, query, key):
    """A token sees itself and what came before."""
    return query >= key


def window_of(span):
    """A token sees itself and the span - 1 tokens before it."""

    def window(batch, head, query, key):
        return (query >= key) & (query - key < span)

    return window


def documents_of(document):
    """A token sees what came before it in its own document; `document` has a number for each token."""

    def same_document(batch, head, query, key):
        return (query >= key) & (document[query] == document[key])

    return same_document


def prefix_of(length):
    """All tokens see the first `length`; behind those it is causal."""

    def prefix(batch, head, query, key):
        return (key < length) | (query >= key)

    return prefix
# --8<-- [end:masks]


# --8<-- [start:scores]
def alibi_of(slopes):
    """A score shrinks with the distance, in each head at a rate of its own."""

    def alibi(score, batch, head, query, key):
        return score - slopes[head] * (query - key)

    return alibi


def relative_of(bias):
    """A learned number for each head and distance is added; distances past the table's end share its last column."""

    def relative(score, batch, head, query, key):
        return score + bias[head, (query - key).clamp(0, bias.shape[1] - 1)]

    return relative


def soft_cap_of(cap):
    """A score approaches the cap, and never passes it."""

    def soft_cap(score, batch, head, query, key):
        return cap * torch.tanh(score / cap)

    return soft_cap
# --8<-- [end:scores]


# --8<-- [start:written]
def written_out(q, k, v, allowed=None, change=None):
    """Attention as matrices: a change of the scores, then minus infinity where nothing may be seen, then softmax."""
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if change is not None:
        scores = change(scores)
    if allowed is not None:
        scores = scores.masked_fill(~allowed, float("-inf"))
    return torch.softmax(scores, dim=-1) @ v
# --8<-- [end:written]


if __name__ == "__main__":
    print("masks:", causal.__name__, window_of(4).__name__, prefix_of(4).__name__, documents_of(None).__name__)
    print("scores:", alibi_of(None).__name__, relative_of(None).__name__, soft_cap_of(20.0).__name__)
