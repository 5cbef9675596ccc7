package lambdaapi

import "syscall"

// Signal sends a signal to every process of a function (and its group) that is
// at work on an invocation whose payload match takes, and gives their number.
// It is for tests: kill -9 in mid-invocation, a process that stands still.
func (s *Service) Signal(sig syscall.Signal, function string, match func(payload []byte) bool) (n int) {
	s.mu.Lock()
	var all []*instance
	for _, in := range s.instances {
		if in.pool.function.Name == function {
			all = append(all, in)
		}
	}
	s.mu.Unlock()
	for _, in := range all {
		if in.signal(sig, match) {
			n++
		}
	}
	return n
}

func (in *instance) signal(sig syscall.Signal, match func([]byte) bool) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.pid == 0 || in.current == nil || !match(in.current.payload) {
		return false
	}
	return syscall.Kill(-in.pid, sig) == nil
}
