package external

import (
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
)

// The record of a generated file has the key of its plugin and one of these sources, which decides when the file is
// stale: operon then knows all files of the source. A file without a source is never stale, because its event
// does not come again.
const (
	// replaySource is for init and the creation of kinds. A replay sends these events again.
	replaySource = " init"
	// generateSource is for generate. Without arguments, it makes all files.
	generateSource = " generate"
)

// generator returns the generator of a file that the response to an event has. If several events have the file, the
// first of the sources above counts, so that the record does not depend on the last command.
func (o *OperonPlugin) generator(event plugin.EventType, path string, p *scaffold.Plan) string {
	source := ""
	switch event {
	case plugin.Init, plugin.CreateAPI, plugin.CreateWebhook:
		source = replaySource
	case plugin.Generate:
		source = generateSource
	}
	recorded := p.RecordedGenerator(path)
	for _, s := range []string{replaySource, generateSource} {
		if source == s || recorded == o.Key()+s {
			return o.Key() + s
		}
	}
	return o.Key()
}

// removeStale removes the files of a source that no response of the command has.
func (o *OperonPlugin) removeStale(source string, p *scaffold.Plan) error {
	return p.RemoveStale(o.Key()+source, func(path string) bool { return o.returned[path] })
}
