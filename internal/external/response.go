package external

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// maxFiles limits the number of files that an answer changes.
const maxFiles = 10000

// decode decodes the one JSON value of an answer.
func decode(key string, answer []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(answer))
	err := dec.Decode(into)
	if err == nil {
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		err = errors.New("there is more text after it")
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("it is empty")
	}
	return invalid(key, err)
}

// invalid returns the error of an answer that is not what the protocol asks for.
func invalid(key string, err error) error {
	return fault.Failed("stdout is for the answer in JSON; messages belong on stderr", "the plugin %s gave no valid answer: %v", key, err)
}

// check returns an error unless an answer may contain a file: a text inside of the project, and neither in
// .git nor in .operon.
func check(key, name string, content []byte, p *scaffold.Plan) error {
	err := p.Writable(name)
	if err == nil && !scaffold.IsText(content) {
		err = fault.Failed("", "%s is not a text of at most 1 MiB", name)
	}
	return fault.In("the plugin "+key+" must not write this file", err)
}

// mode returns the mode of a new file: scripts are executable.
func mode(content []byte) fs.FileMode {
	if bytes.HasPrefix(content, []byte("#!")) {
		return 0o755
	}
	return 0o644
}

// planChanged plans the files of an answer that differ from those that were sent. A new file is
// the user's after the first write. An existing one changes as if the user had edited it.
func planChanged(key string, sent map[string][]byte, answer map[string]string, p *scaffold.Plan) error {
	changed := map[string][]byte{}
	for name, text := range answer {
		name = strings.TrimPrefix(name, "./")
		if name == project.File {
			continue // as in kubebuilder, which writes it itself afterwards
		}
		if before, ok := sent[name]; !ok || string(before) != text {
			changed[name] = []byte(text)
		}
	}
	if len(changed) > maxFiles {
		return fault.Failed("", "the plugin %s changes more than %d files", key, maxFiles)
	}
	names := slices.Sorted(maps.Keys(changed))
	for _, name := range names {
		if err := check(key, name, changed[name], p); err != nil {
			return err
		}
	}
	for _, name := range names {
		var err error
		if content := changed[name]; p.Exists(name) {
			err = p.Rewrite(name, content)
		} else {
			err = p.Seed(name, mode(content), content)
		}
		if err != nil {
			return fault.In("the plugin "+key, err)
		}
	}
	return nil
}
