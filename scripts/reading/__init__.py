"""What the compiler wrote, read: which line of the source each line of its texts comes from, and what each pass changed."""
