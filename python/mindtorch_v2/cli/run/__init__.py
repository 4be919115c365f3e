"""mtprof run and mtprof collect: a launcher that starts the program, and a recorder inside each of its processes."""
