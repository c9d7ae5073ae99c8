package rbac

import (
	"regexp"
	"strings"
)

// pythonPatch are the methods of Patch in the library of hooks in Python: the
// operation of each, or "" where an argument names it, and the fields that arguments
// without a name give.
var pythonPatch = map[string]struct {
	operation string
	fields    []string
}{
	"create":               {"Create", []string{"object"}},
	"create_if_not_exists": {"CreateIfNotExists", []string{"object"}},
	"create_or_update":     {"CreateOrUpdate", []string{"object"}},
	"delete":               {"DeleteInBackground", []string{"apiVersion", "kind", "name", "namespace", "operation"}},
	"merge":                {"MergePatch", []string{"apiVersion", "kind", "name", "mergePatch", "namespace"}},
	"json":                 {"JSONPatch", []string{"apiVersion", "kind", "name", "jsonPatch", "namespace"}},
	"jq":                   {"JQPatch", []string{"apiVersion", "kind", "name", "jqFilter", "namespace"}},
}

// pythonNames are arguments that have other names than the fields of an operation.
var pythonNames = map[string]string{"api_version": "apiVersion", "obj": "object"}

var (
	pythonArgument = regexp.MustCompile(`^\s*([A-Za-z_]\w*)[ \t]*=(?:[^=]|$)`)
	pythonName     = regexp.MustCompile(`^\s*([A-Za-z_]\w*)\s*[,)]`)
	pythonDict     = regexp.MustCompile(`(?m)(?:^|[ \t;])([A-Za-z_]\w*)[ \t]*=[ \t]*\{`)
)

// patch reads a call of one of the methods as the operation that it writes. The word
// that was read last may be its name.
func (r *pythonReader) patch(word string) {
	owner, method, _ := cutLast(word, ".")
	m, known := pythonPatch[method]
	if !known || owner != "patch" && !strings.HasSuffix(owner, ".patch") || r.at >= len(r.text) || r.text[r.at] != '(' {
		return
	}
	start := r.at - len(word)
	doc := map[string]any{"operation": m.operation}
	r.at++
	for i := 0; r.at < len(r.text) && r.text[r.at] != ')'; i++ {
		field := ""
		if named := pythonArgument.FindStringSubmatch(r.text[r.at:]); named != nil {
			field = named[1]
			if other, is := pythonNames[field]; is {
				field = other
			}
			r.at += strings.IndexByte(r.text[r.at:], '=') + 1
		} else if i < len(m.fields) {
			field = m.fields[i]
		}
		v := r.argument()
		if field == "operation" && v == standIn {
			v = "Delete" // which needs what the others need, too
		}
		if field != "" {
			doc[field] = v
		}
		if r.at < len(r.text) && r.text[r.at] == ',' {
			r.at++
		}
	}
	r.at = min(r.at+1, len(r.text))
	r.note(doc, start)
}

// argument reads one, and looks up a name that is given one dict, in one place.
func (r *pythonReader) argument() any {
	if name := pythonName.FindStringSubmatch(r.text[r.at:]); name != nil {
		if dict, known := r.dicts[name[1]]; known {
			r.expression(",)")
			return dict
		}
	}
	return r.expression(",)")
}

// readDicts notes what names stand for a dict.
func (r *pythonReader) readDicts(assigned map[string]int) {
	r.dicts = map[string]any{}
	for _, at := range pythonDict.FindAllStringSubmatchIndex(r.text, -1) {
		name := r.text[at[2]:at[3]]
		if assigned[name] != 1 {
			continue
		}
		inner := &pythonReader{text: r.text, at: at[1] - 1, constants: r.constants}
		r.dicts[name] = inner.dict()
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}
