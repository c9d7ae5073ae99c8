package scaffold

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/operon-dev/operon/internal/fault"
)

// Where operon keeps its state. Nothing under stateDir may be named go.mod or
// end in .go: controller-gen and the go command walk folders that they are
// given, and controller-gen does not skip this one.
const (
	baseDir        = stateDir + "/base"
	recordsFile    = stateDir + "/generated.json"
	recordsVersion = 1
)

// housekeeping returns the files that keep operon's state out of the way, by
// path. They are written along with other changes, whenever they differ.
func housekeeping() map[string]string {
	return map[string]string{
		stateDir + "/.gitignore": `# What operon needs only on this machine.
lock
journal/
`,
		// Where two branches changed the same, git takes that of either: lines of
		// both would be no file that operon ever wrote. The next command catches up.
		stateDir + "/.gitattributes": `# Kept by operon: take either side of a merge, then run operon generate.
generated.json text eol=lf -diff -merge linguist-generated
`,
		baseDir + "/.gitattributes": `# Kept by operon for merges; nothing to review.
*.base text eol=lf -diff -merge linguist-generated
`,
	}
}

func basePath(name string) string { return baseDir + "/" + name + ".base" }

// record is what generated.json tells of one file.
type record struct {
	Generator string `json:"generator"`
	SHA256    string `json:"sha256"` // of the content as it was written, in hex
}

// records maps the path of each generated file to its record.
type records map[string]record

type recordsDoc struct {
	Version int     `json:"version"`
	Files   records `json:"files"`
}

// parseRecords reads generated.json; no content means no records. Its paths
// are checked, for the file comes with a repository that may be anybody's.
func parseRecords(src []byte) (records, error) {
	doc := recordsDoc{Version: recordsVersion}
	if src == nil {
		return records{}, nil
	}
	if err := json.Unmarshal(src, &doc); err != nil {
		if bytes.Contains(src, []byte("\n<<<<<<< ")) {
			return nil, fault.Failed("take that of either side (git checkout --ours "+recordsFile+"), solve the other conflicts, then run operon generate",
				"%s has conflicts of a merge", recordsFile)
		}
		f := fault.Failed("restore the file from version control, or delete it: operon then no longer finds stale generated files",
			"%s is damaged", recordsFile)
		f.Err = err
		return nil, f
	}
	if doc.Version != recordsVersion {
		return nil, fault.Failed("use the operon that wrote it, or a newer one",
			"%s has version %d, this operon knows %d", recordsFile, doc.Version, recordsVersion)
	}
	for name := range doc.Files {
		if err := checkName(name); err != nil {
			return nil, fault.In(recordsFile, err)
		}
	}
	if doc.Files == nil {
		doc.Files = records{}
	}
	return doc.Files, nil
}

// encode returns the records as generated.json: sorted, indented, with a final
// newline.
func (r records) encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(recordsDoc{recordsVersion, r}); err != nil {
		return nil, fmt.Errorf("encode %s: %w", recordsFile, err)
	}
	return b.Bytes(), nil
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

// stateSteps returns what must be written under .operon for this plan. The
// housekeeping files come along only when something else is written.
func (p *Plan) stateSteps(others bool) ([]step, error) {
	var steps []step
	for name, e := range p.entries {
		if s, ok := stateStep(basePath(name), e.base, e.nextBase()); ok {
			steps = append(steps, s)
		}
	}
	next := p.nextRecords()
	if !maps.Equal(next, p.records) {
		b, err := next.encode()
		if err != nil {
			return nil, err
		}
		if s, ok := stateStep(recordsFile, p.stored, b); ok {
			steps = append(steps, s)
		}
	}
	if !others && len(steps) == 0 {
		return nil, nil
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

func stateStep(name string, disk, next []byte) (step, bool) {
	s := step{Path: name, Op: Update, before: disk, after: next, mode: fileMode(0)}
	switch {
	case disk == nil && next == nil, disk != nil && next != nil && bytes.Equal(disk, next):
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

// HasBase reports whether an earlier command seeded the file at path, or what
// this plan moved there.
func (p *Plan) HasBase(path string) bool {
	_, base, err := p.Before(path)
	return err == nil && base != nil
}
