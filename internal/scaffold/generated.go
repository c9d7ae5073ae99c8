package scaffold

import (
	"fmt"
	"maps"
	"slices"
)

// Recorded returns the generated files that earlier commands wrote, sorted by
// path, as they are on record: nobody looks at the disk.
func (p *Plan) Recorded() []Recorded {
	var list []Recorded
	for _, name := range slices.Sorted(maps.Keys(p.records)) {
		list = append(list, Recorded{Path: name, Generator: p.records[name].Generator, SHA256: p.records[name].SHA256})
	}
	return list
}

// Unchanged reports whether the file on disk is as the record of it says. A file
// that cannot be read is not intact, nor is one without a record.
func (p *Plan) Unchanged(path string) bool {
	r, recorded := p.records[path]
	if !recorded {
		return false
	}
	e, err := p.entry(path)
	return err == nil && e.disk != nil && hash(e.disk) == r.SHA256
}

// OnDisk reports whether a regular file of the project stands at path, and the
// plan leaves it as it is.
func (p *Plan) OnDisk(path string) bool {
	if e := p.entries[path]; e != nil {
		if c, planned := e.change(p.force); planned || c.Class != Generated {
			return false
		}
	}
	if checkName(path) != nil {
		return false
	}
	resolved, info, err := p.tree.resolve(path, true)
	return err == nil && info != nil && info.Mode().IsRegular() && checkName(resolved) == nil
}

// KeepGenerated plans that a generated file stays as it is on disk. The caller knows
// that its content is what the generator makes now, and has the SHA-256, which
// must be on record: so neither the file nor its record changes, and nobody
// reads the file.
func (p *Plan) KeepGenerated(generator, path, sha256 string) error {
	if p.records[path] != (record{generator, sha256}) {
		return fmt.Errorf("%s is not on record as made by %s with the SHA-256 %s", path, generator, sha256)
	}
	p.standing[path] = true
	return nil
}

// Target is a generated file of a plan.
type Target struct {
	Path string
	Real string // the path with symbolic links followed: where the content is written
}

// Generated returns the files that this plan generates, sorted by path, whether
// or not they change.
func (p *Plan) Generated() []Target {
	resolved := map[string]string{}
	for name := range p.standing {
		if target, _, err := p.tree.resolve(name, true); err == nil {
			resolved[name] = target
		}
	}
	for name, e := range p.entries {
		switch {
		case e.class == Generated:
			resolved[name] = e.real
		case e.content == nil:
			delete(resolved, name) // removed since
		}
	}
	var list []Target
	for _, name := range slices.Sorted(maps.Keys(resolved)) {
		list = append(list, Target{Path: name, Real: resolved[name]})
	}
	return list
}
