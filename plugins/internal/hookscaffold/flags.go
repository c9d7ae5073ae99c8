package hookscaffold

import "github.com/operon-dev/operon/internal/plugin"

// HookOptions returns the flags of `operon create hook` that describe the hook.
func HookOptions() []plugin.Option {
	events := []plugin.EventType{plugin.CreateHook}
	var options []plugin.Option
	for _, list := range []struct{ name, usage string }{
		{"on", "run when objects of a kind change: `kubernetes:KIND,...`; KIND can be Secret, deployments.apps or apps/v1/Deployment, and NAME:KIND names the binding"},
		{"schedule", "run at the times of a `CRONTAB`, such as '*/5 * * * *' or @hourly; NAME:CRONTAB names the binding"},
		{"validate", "validate objects of a `KIND` before the API server stores them; KIND:OPERATION,... limits the operations to CREATE, UPDATE or DELETE"},
		{"mutate", "mutate objects of a `KIND` before the API server stores them; KIND:OPERATION,... limits the operations to CREATE or UPDATE"},
		{"convert", "convert objects of --crd between two versions, `FROM:TO`"},
		{"namespace", "only objects in the namespaces `NAME,...`"},
		{"name", "only objects with the names `NAME,...`"},
		{"selector", "only objects that match a label `SELECTOR`"},
		{"field-selector", "only objects that match a field `SELECTOR`"},
		{"jq", "pass the result of a jq `FILTER` to the hook, and run it only when the result changes"},
		{"events", "run only for `EVENTS`: Added, Modified, Deleted; none: only take snapshots for other bindings"},
		{"group", "combine the bindings with the same `NAME` into one run, with the snapshots of all"},
		{"queue", "run in the queue `NAME`, which does not wait for other hooks"},
	} {
		options = append(options, plugin.Option{Name: list.name, Default: []string{}, Verbatim: true, Usage: list.usage, Events: events})
	}
	return append(options,
		plugin.Option{Name: "startup", Default: "", Usage: "run when the engine starts; hooks with a lower `ORDER` run first", Events: events},
		plugin.Option{Name: "crd", Default: "", Usage: "CRD of --convert, by name or `KIND` (default: the only one with several versions)", Events: events},
	)
}
