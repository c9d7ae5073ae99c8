package scaffold

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"

	"github.com/operon-dev/operon/internal/fault"
)

// The files of operon's state. No path under stateDir may be named go.mod or
// end in .go: controller-gen and the go command walk the folders they are
// given, and controller-gen does not skip this one.
const (
	recordsFile = stateDir + "/generated.json"
	// recordsVersion is the version of all files in stateDir: operon refuses a
	// project with another one.
	recordsVersion = 2
)

// housekeeping returns the git configuration files of operon's state, by path.
// They are written together with other changes if they differ.
func housekeeping() map[string]string {
	return map[string]string{
		stateDir + "/.gitignore": `# Files that operon uses only on this machine.
lock
journal/
`,
		// When two branches change generated.json, git takes one side: a mix of
		// lines from both would match no version that operon wrote. The next
		// command corrects the file.
		stateDir + "/.gitattributes": `# operon maintains these files. They need no review. After a merge conflict in
# generated.json, take either side and run operon generate.
generated.json text eol=lf -diff -merge linguist-generated
base.lines text eol=lf -diff merge=union linguist-generated
`,
	}
}

// record is the entry of one file in generated.json.
type record struct {
	Generator string `json:"generator"`
	SHA256    string `json:"sha256"` // of the written content, in hex
}

// records maps the path of each generated file to its record.
type records map[string]record

type recordsDoc struct {
	Version int     `json:"version"`
	Files   records `json:"files"`
}

// parseRecords reads generated.json; nil means no records. It checks the paths
// because a repository is not trusted.
func parseRecords(src []byte) (recordsDoc, error) {
	doc := recordsDoc{Files: records{}}
	if src == nil {
		return doc, nil
	}
	if err := json.Unmarshal(src, &doc); err != nil {
		if bytes.Contains(src, []byte("\n<<<<<<< ")) {
			return doc, fault.Failed("take either side (git checkout --ours "+recordsFile+"), resolve the other conflicts, then run operon generate",
				"%s has merge conflicts", recordsFile)
		}
		f := fault.Failed("restore the file from version control, or delete it: operon then cannot find stale generated files",
			"%s is damaged", recordsFile)
		f.Err = err
		return doc, f
	}
	if doc.Version != recordsVersion {
		return doc, fault.Failed("use the version of operon that wrote it",
			"%s has version %d; this operon supports version %d", recordsFile, doc.Version, recordsVersion)
	}
	for name := range doc.Files {
		if err := checkName(name); err != nil {
			return doc, fault.In(recordsFile, fault.Failed("restore the file from version control, or remove the path from it", "%v", err))
		}
	}
	if doc.Files == nil {
		doc.Files = records{}
	}
	return doc, nil
}

// encode returns the content of generated.json: sorted, indented, with a final newline.
func (r records) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(recordsDoc{recordsVersion, r})
	return b.Bytes(), err
}

// nextRecords returns the records as they will be after Apply.
func (p *Plan) nextRecords() records {
	next := maps.Clone(p.records)
	for name, e := range p.entries {
		old := p.records[name]
		switch {
		case e.generator == "":
			delete(next, name)
		case e.class == Generated || e.edited && e.disk != nil && hash(e.disk) == old.SHA256:
			next[name] = record{e.generator, hash(e.content)}
		}
	}
	return next
}

// stateSteps returns the writes under .operon for this plan. others reports whether
// the plan writes other files. The housekeeping files are written only together with something else.
func (p *Plan) stateSteps(others bool) ([]step, error) {
	next := p.nextRecords()
	bases, rewritten := p.nextBases()
	if !others && len(bases)+len(rewritten) == 0 && maps.Equal(next, p.records) {
		return nil, nil
	}
	steps, err := p.baseSteps(bases, rewritten)
	if err != nil {
		return nil, err
	}
	if !maps.Equal(next, p.records) || p.stored == nil {
		content, err := next.encode()
		if err != nil {
			return nil, err
		}
		if s, ok := stateStep(recordsFile, p.stored, content); ok {
			steps = append(steps, s)
		}
	}
	for name, content := range housekeeping() {
		disk, err := p.tree.state(name)
		if err != nil {
			return nil, err
		}
		if s, ok := stateStep(name, disk, []byte(content)); ok {
			steps = append(steps, s)
		}
	}
	return steps, nil
}

// nextBases returns the bases that the plan changes, and what plugins wrote last where it is not the base; nil
// removes one.
func (p *Plan) nextBases() (changed, rewritten map[string][]byte) {
	changed, rewritten = map[string][]byte{}, map[string][]byte{}
	for name, e := range p.entries {
		if !e.baseRead {
			continue
		}
		next, last := e.nextBase(), e.lastWritten()
		if differ(e.base, next) {
			changed[name] = next
		}
		if bytes.Equal(last, next) {
			last = nil
		}
		if differ(e.stored, last) {
			rewritten[name] = last
		}
	}
	return changed, rewritten
}

// differ reports whether two contents differ; nil: none.
func differ(a, b []byte) bool { return (a == nil) != (b == nil) || !bytes.Equal(a, b) }

// baseSteps returns the writes of the bases. A file that becomes a generated one
// loses its base.
func (p *Plan) baseSteps(changed, rewritten map[string][]byte) ([]step, error) {
	if err := p.bases.load(); err != nil {
		return nil, err
	}
	for name, e := range p.entries {
		if e.class == Generated && p.bases.has(name) {
			changed[name], rewritten[name] = nil, nil
		}
	}
	if len(changed)+len(rewritten) == 0 {
		return nil, nil
	}
	content, err := p.bases.encode(changed, rewritten)
	if err != nil {
		return nil, err
	}
	if s, ok := stateStep(baseFile, p.bases.src, content); ok {
		return []step{s}, nil
	}
	return nil, nil
}

func stateStep(name string, disk, next []byte) (step, bool) {
	s := step{Path: name, Op: Update, before: disk, after: next, mode: fileMode(0)}
	switch {
	case !differ(disk, next):
		return step{}, false
	case disk == nil:
		s.Op = Create
	case next == nil:
		s.Op = Delete
	}
	return s, true
}

func hashOrNone(b []byte) string {
	if b == nil {
		return ""
	}
	return hash(b)
}

// hash returns the SHA-256 of b in hex.
func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// HasBase reports whether an earlier command seeded the file at path, or the
// file that this plan moved there.
func (p *Plan) HasBase(path string) bool {
	_, base, err := p.Before(path)
	return err == nil && base != nil
}
