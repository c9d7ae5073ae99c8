package record

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/operon-dev/operon/internal/filestat"
)

// Sources reads sources as they will be after a plan is applied. It keeps their checksums, and reads a file for its
// checksum only if the stat of the file has changed since the last run.
type Sources struct {
	read    func(name string) ([]byte, error)
	planned map[string][]byte // content by absolute path; nil: removed
	last    map[string]Source

	mu       sync.Mutex
	seen     map[string]Source
	contents map[string][]byte // of the sources that were read
}

// NewSources returns the sources that read reads. planned has the contents of files that a plan changes.
func NewSources(planned map[string][]byte, read func(name string) ([]byte, error), last *Record) *Sources {
	return &Sources{read: read, planned: planned, last: last.Sources, seen: map[string]Source{}, contents: map[string][]byte{}}
}

// Sum returns the checksum of a source.
func (s *Sources) Sum(name string) (Sum, error) {
	s.mu.Lock()
	is, known := s.seen[name]
	s.mu.Unlock()
	if known {
		return is.Sum, nil
	}
	var content []byte
	if _, planned := s.planned[name]; !planned {
		is.Stat = settled(name)
	}
	if was := s.last[name]; is.Stat.Exists() && is.Stat == was.Stat {
		is = was
	} else {
		var err error
		if content, err = s.read(name); err != nil {
			return Sum{}, err
		}
		is.Sum = SumOf(content)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.seen[name]; !known {
		s.seen[name] = is
		if content != nil {
			s.contents[name] = content
		}
	}
	return s.seen[name].Sum, nil
}

// settled returns the stat of a file if any later change results in another one, and zero otherwise.
func settled(name string) filestat.Stat {
	now := time.Now()
	if is, err := filestat.Of(name); err == nil && is.Settled(now) {
		return is
	}
	return filestat.Stat{}
}

// Read returns the content of a source. It returns an error if the source changed after Sum returned its checksum.
func (s *Sources) Read(name string) ([]byte, error) {
	sum, err := s.Sum(name)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	content, read := s.contents[name]
	s.mu.Unlock()
	if read {
		return content, nil
	}
	if content, err = s.read(name); err == nil && SumOf(content) != sum {
		return nil, fmt.Errorf("%s changed during the run", name)
	}
	return content, err
}

// Seen returns the sources whose checksums are known.
func (s *Sources) Seen() map[string]Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.seen)
}
