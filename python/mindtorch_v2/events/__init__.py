"""Events as Python sees them: lists of them, torch's event classes, and the tree of torch's raw events. Not for users."""
