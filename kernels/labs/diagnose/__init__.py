"""From what was watched to a sentence about the mistake."""
