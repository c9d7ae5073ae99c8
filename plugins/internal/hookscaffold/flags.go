package hookscaffold

import "github.com/operon-dev/operon/internal/plugin"

// HookOptions are the flags of `operon create hook` that describe the hook.
func HookOptions() []plugin.Option {
	events := []plugin.EventType{plugin.CreateHook}
	var options []plugin.Option
	for _, list := range []struct{ name, usage string }{
		{"on", "run for objects, of `kubernetes:KIND`[,KIND...]; a kind may be NAME:KIND, and KIND any name of it, GROUP/VERSION/KIND, or as in deployments.apps"},
		{"schedule", "run at the times of a `CRONTAB`, such as '*/5 * * * *' or @hourly, or NAME:CRONTAB"},
		{"validate", "run before the API server stores an object of a `KIND`, to refuse it"},
		{"mutate", "run before that, to change an object of a `KIND`"},
		{"convert", "convert the objects of --crd between versions, `FROM:TO`"},
		{"namespace", "only objects of the namespaces `[BINDING:]NAME[,NAME...]`"},
		{"name", "only the objects of the names `[BINDING:]NAME[,NAME...]`"},
		{"selector", "only objects with labels, a `[BINDING:]SELECTOR` as for kubectl"},
		{"field-selector", "only objects with fields, a `[BINDING:]SELECTOR` as for kubectl"},
		{"jq", "tell the hook what this `[BINDING:]FILTER` of jq makes of an object, and run it when that changes"},
		{"events", "run for `[BINDING:]EVENTS`: Added, Modified, Deleted; or none, for a snapshot that other bindings look at"},
		{"group", "bindings with the same `[BINDING:]NAME` run the hook together, with the snapshots of all"},
		{"queue", "a queue of its own, `[BINDING:]NAME`, which does not wait for other hooks"},
	} {
		options = append(options, plugin.Option{Name: list.name, Default: []string{}, Verbatim: true, Usage: list.usage, Events: events})
	}
	return append(options,
		plugin.Option{Name: "startup", Default: "", Usage: "run when the engine starts; the hook with the lower `ORDER` comes first", Events: events},
		plugin.Option{Name: "crd", Default: "", Usage: "the CRD that --convert is for, by its name or `KIND` (default: the one with several versions)", Events: events},
	)
}
