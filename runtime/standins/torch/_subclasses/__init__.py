"""torch._subclasses: of it, fake tensors."""
