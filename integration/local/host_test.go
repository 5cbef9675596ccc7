package local

// host is the program of the restart test: it is filled in there.
func host(string) {}
