package addon

// test is a test of a scaffolded hook, for one of its bindings: what happens, which
// is the start when there is no event, and what the hook calls it.
type test struct{ Name, Event, Binding string }

// tests are those of the hook, one for each binding.
func (h Hook) tests() []test {
	var all []test
	if h.Startup != nil {
		all = append(all, test{Name: "it starts", Binding: "onStartup"})
	}
	for _, o := range h.Kubernetes {
		all = append(all, test{Name: o.Name + " at the start", Binding: o.Name})
	}
	for _, s := range h.Schedule {
		all = append(all, test{Name: s.Name + " comes round", Event: "schedule: " + s.Name, Binding: s.Name})
	}
	for _, s := range steps {
		if _, bound := h.Steps[s.binding]; bound {
			all = append(all, test{Name: "it runs at " + s.binding, Event: s.binding + ": true", Binding: s.binding})
		}
	}
	return all
}

// testFile is the path of the tests of a hook in the project; those of a module's
// chart stand beside its folder.
func (h Hook) testFile() string {
	if h.Module != "" {
		return "test/hooks/" + h.Module + "/" + h.Name + ".yaml"
	}
	return "test/hooks/global/" + h.Name + ".yaml"
}

func (m Module) testFile() string { return "test/hooks/" + m.Name + ".yaml" }
