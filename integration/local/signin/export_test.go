package signin

import "time"

// Lapse lets a session's access token end.
func Lapse(s *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = time.Time{}
}
