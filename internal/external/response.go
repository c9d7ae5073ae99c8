package external

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// maxFiles limits the number of files that a response changes.
const maxFiles = 10000

// decode decodes a response, which is one JSON value. The protocol has keys that operon does not read.
func decode(key string, text []byte, into *response) error {
	dec := json.NewDecoder(bytes.NewReader(text))
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
	return fault.Failed("stdout is for the response in JSON; messages belong on stderr", "the plugin %s returned an invalid response: %s", key, jsonReason(err))
}

// jsonReason returns the text of an error of a decoder, in the words of the document instead of Go's.
func jsonReason(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		where := "the document"
		if wrong.Field != "" {
			where = "the key " + wrong.Field
		}
		return where + " must not be of the type " + wrong.Value
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// check returns an error unless a response may contain a file: a text inside of the project, and neither in
// .git nor in .operon.
func check(key, name string, content []byte, p *scaffold.Plan) error {
	err := p.Writable(name)
	if err == nil && !scaffold.IsText(content) {
		err = fault.Failed("plugins can write only text in UTF-8; create other files with a target of the Makefile", "%s is not a text of at most 1 MiB", name)
	}
	if err == nil {
		return nil
	}
	hint := cmp.Or(fault.HintOf(err), "plugins write files inside of the project, and neither in .git nor in .operon")
	return &fault.Error{Code: fault.Code(err), Msg: "the plugin " + key + " must not write this file", Hint: hint, Err: err}
}

// checkGo returns an error if a plugin wrote Go code that does not parse. Code that did not parse before is the user's
// error. The go command ignores folders named testdata, and names that start with _ or a dot.
func checkGo(key, name string, before, content []byte) error {
	ignored := func(part string) bool {
		return part == "testdata" || strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".")
	}
	if path.Ext(name) != ".go" || slices.ContainsFunc(strings.Split(name, "/"), ignored) {
		return nil
	}
	parse := func(src []byte) error {
		_, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
		return err
	}
	err := parse(content)
	if err == nil || before != nil && parse(before) != nil {
		return nil
	}
	if list, ok := errors.AsType[scanner.ErrorList](err); ok {
		err = list[0]
	}
	return fault.Failed("correct the plugin: it must write valid Go code", "the plugin %s: %v", key, err)
}

// checkCount returns an error if a response changes too many files.
func checkCount(key string, files int) error {
	if files > maxFiles {
		return fault.Failed("leave the folders of tools, such as node_modules, out of the response", "the plugin %s changes %d files, and %d are allowed", key, files, maxFiles)
	}
	return nil
}

// mode returns the mode of a new file: scripts are executable.
func mode(content []byte) fs.FileMode {
	if bytes.HasPrefix(content, []byte("#!")) {
		return 0o755
	}
	return 0o644
}

// planChanged plans the files of a response that differ from those that were sent. A new file is
// the user's after the first write. An existing one changes as if the user had edited it.
func planChanged(key string, sent map[string][]byte, universe map[string]string, p *scaffold.Plan) error {
	changed := map[string][]byte{}
	for name, text := range universe {
		name = strings.TrimPrefix(name, "./")
		if name == project.File {
			continue // as in kubebuilder, which writes it itself afterwards
		}
		if before, ok := sent[name]; !ok || string(before) != text {
			changed[name] = []byte(text)
		}
	}
	if err := checkCount(key, len(changed)); err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(changed))
	for _, name := range names {
		if err := cmp.Or(check(key, name, changed[name], p), checkGo(key, name, sent[name], changed[name])); err != nil {
			return err
		}
		if _, ok := sent[name]; !ok && p.Exists(name) {
			return fault.Failed("operon sends only text files of at most 1 MiB: move the file away, then repeat the command",
				"the plugin %s cannot replace %s, which operon did not send to it", key, name)
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
