"""What pages are made of besides Markdown."""
