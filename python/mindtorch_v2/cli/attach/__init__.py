"""mtprof attach: records a process that runs already and was not prepared for it."""
