package lambdaapi

// Deploy gives every function another program: binary says where it is. What
// calls a function without a version gets the new program from then on; published
// versions stay as they are, and Publish makes new ones. Invocations under way end
// on the program that they began with.
func (s *Service) Deploy(binary func(function string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cfg.Binary = binary
	clear(s.versions)
	for name := range s.functions {
		key := name + ":" + Latest
		if p := s.pools[key]; p != nil {
			delete(s.pools, key)
			p.retire()
		}
	}
}

// retire ends the processes that wait for work, and those at work after it.
func (p *pool) retire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.retired = true
	for _, in := range p.idle {
		in.reaper.Stop()
		go in.kill()
	}
	p.idle = nil
}

// binary is where a function's present program is.
func (s *Service) binary(function string) string {
	s.mu.Lock()
	f := s.cfg.Binary
	s.mu.Unlock()
	return f(function)
}
