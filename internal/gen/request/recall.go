package request

import (
	"crypto/sha256"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/operon-dev/operon/internal/gen/calls"
	"github.com/operon-dev/operon/internal/gen/incremental/store"
)

// callsKind is the kind of the entries of recallCalls in the store.
const callsKind = "calls"

// recallCalls is calls.Find for the project in dir. Understanding large Makefiles and many scripts takes
// longer than reading them, so the store keeps the result together with what the search asked of the
// project and the checksums of the answers. The search depends on nothing else: while the project gives the
// same answers, the result is the same.
func recallCalls(s *store.Store, dir string, p calls.Project) ([]calls.Call, calls.Pin) {
	key, ok := callsKey(dir)
	if s == nil || !ok {
		return calls.Find(p)
	}
	var known search
	if text, ok := s.Get(callsKind, key); ok && json.Unmarshal(text, &known) == nil && known.stands(p) {
		return known.Calls, known.Pin
	}
	asking := &asking{project: p}
	now := search{}
	now.Calls, now.Pin = calls.Find(asking)
	now.Asked = asking.asked
	var again search // JSON has no text that is not UTF-8
	if text, err := json.Marshal(now); err == nil && json.Unmarshal(text, &again) == nil && reflect.DeepEqual(now, again) {
		s.Put(callsKind, key, text)
	}
	return now.Calls, now.Pin
}

// Searches reports whether Resolve has to search the project for calls: PROJECT has none, and the store has
// no result of an earlier search.
func (r Request) Searches() bool {
	if r.Project != nil {
		if list, err := configured(r.Project.Plugins); err != nil || len(list) > 0 {
			return false
		}
	}
	key, ok := callsKey(r.Dir)
	return !ok || !r.Store.Has(callsKind, key)
}

func callsKey(dir string) (key store.Key, ok bool) {
	program, ok := store.Program()
	return store.KeyOf(program, dir), ok
}

// search is a search for calls, and its result.
type search struct {
	Asked []question
	Calls []calls.Call
	Pin   calls.Pin
}

// question is a question to the project. Either File or Folder is set, or Extension and Text are.
type question struct {
	File            string `json:",omitempty"` // what does it contain?
	Folder          string `json:",omitempty"` // which files are below it?
	Extension, Text string `json:",omitempty"` // which files contain the text?
	Sum             []byte // of the answer
}

// stands reports whether the project gives the same answers as then.
func (s search) stands(p calls.Project) bool {
	now := &asking{project: p}
	for i, q := range s.Asked {
		switch {
		case q.File != "":
			_, _ = now.Read(q.File)
		case q.Folder != "":
			_, _ = now.Below(q.Folder)
		default:
			_, _ = now.Containing(q.Extension, q.Text)
		}
		if string(now.asked[i].Sum) != string(q.Sum) {
			return false
		}
	}
	return true
}

// asking is a project that notes what it is asked.
type asking struct {
	project calls.Project
	asked   []question
}

func (a *asking) Read(name string) ([]byte, error) {
	content, err := a.project.Read(name)
	a.note(question{File: name}, string(content), err)
	return content, err
}

func (a *asking) Below(dir string) ([]string, error) {
	names, err := a.project.Below(dir)
	a.note(question{Folder: dir}, strings.Join(names, "\x00"), err)
	return names, err
}

func (a *asking) Containing(extension, text string) ([]string, error) {
	names, err := a.project.Containing(extension, text)
	a.note(question{Extension: extension, Text: text}, strings.Join(names, "\x00"), err)
	return names, err
}

// note adds a question with the checksum of its answer.
func (a *asking) note(q question, answer string, err error) {
	if err != nil {
		answer = "\x00" + err.Error()
	}
	sum := sha256.Sum256([]byte(answer))
	q.Sum = sum[:16]
	a.asked = append(a.asked, q)
}
