"""What Python adds to a recording: calls, modules, scopes, garbage collections, names of threads. Not for users."""
