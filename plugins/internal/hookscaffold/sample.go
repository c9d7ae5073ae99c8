package hookscaffold

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Sample is an object whose creation in a cluster triggers a hook.
type Sample struct {
	Object string // a YAML document
	Start  string // a part of what the new hook prints before it gets events of new objects, or ""
	Output string // a part of what the new hook prints; "" if it responds to the API server
}

// Sample returns an object that triggers the hook, or false if no new object does.
func (h Hook) Sample(at Place) (Sample, bool) {
	h.Convert = nil // only requests for another version trigger a conversion
	for _, t := range h.tests(at, nil) {
		object, start, output := t.trigger()
		if object == nil || object["kind"] == "Node" { // only kubelets create nodes
			continue
		}
		var out bytes.Buffer
		enc := yaml.NewEncoder(&out)
		enc.SetIndent(2)
		enc.CompactSeqIndent()
		if enc.Encode(object) != nil || enc.Close() != nil {
			break // never: tests have plain values
		}
		return Sample{out.String(), start, output}, true
	}
	return Sample{}, false
}

// trigger returns the new object of a test, and what the hook prints before it can get its event and
// about it.
func (t test) trigger() (one object, start, output string) {
	if t.Expect != nil && len(t.Expect.Output) > 0 {
		output = t.Expect.Output[0]
	}
	if strings.HasPrefix(t.Name, "the group ") && len(t.Given) > 0 {
		return t.Given[len(t.Given)-1], "", output
	}
	if len(t.Events) != 1 {
		return nil, "", ""
	}
	event := t.Events[0]
	binding, _, added := strings.Cut(output, ": Added")
	switch {
	case event.Apply != nil && added:
		return event.Apply, binding + " at the start", output
	case event.Validate != nil:
		one, _ = event.Validate["object"].(object)
	case event.Mutate != nil:
		one, _ = event.Mutate["object"].(object)
	}
	return one, "", ""
}
