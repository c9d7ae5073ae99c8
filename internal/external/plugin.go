package external

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"sigs.k8s.io/yaml"
)

// protocolVersion is the only version of the protocol.
const protocolVersion = "v1alpha1"

// maxTexts limits the size of the texts that a plugin gets.
const maxTexts = 64 << 20

// request is what a plugin reads from stdin.
type request struct {
	APIVersion  string            `json:"apiVersion"`
	Args        []string          `json:"args"`
	Command     string            `json:"command"`
	Universe    map[string]string `json:"universe"`
	PluginChain []string          `json:"pluginChain,omitempty"`
	Config      map[string]any    `json:"config,omitempty"` // PROJECT
}

// response is what it prints on stdout.
type response struct {
	APIVersion string            `json:"apiVersion"`
	Universe   map[string]string `json:"universe"`
	Error      bool              `json:"error"`
	ErrorMsgs  []string          `json:"errorMsgs"`
	Flags      []Flag            `json:"flags"`
	Metadata   Metadata          `json:"metadata"`
}

// Flag is a flag that a plugin adds to a command. Type is string, bool, int or float.
type Flag struct{ Name, Type, Default, Usage string }

// Metadata is what a plugin adds to the help of a command.
type Metadata struct {
	Description string `json:"description"`
	Examples    string `json:"examples"`
}

// Plugin is an installed plugin.
type Plugin struct {
	Program
	Args []string // the command line, as kubebuilder passes it on
	// Requested is true if the command line names the plugin or has one of its flags. Without that, edit does not run
	// it: it would get none of the flags of earlier calls.
	Requested bool
}

var _ plugin.Plugin = &Plugin{}

// Name implements plugin.Plugin.
func (p *Plugin) Name() string { return p.Key() }

// Doc implements plugin.Plugin.
func (p *Plugin) Doc() string { return "installed in " + p.Path }

// Options implements plugin.Plugin. The flags are known only to the program: see Flags.
func (p *Plugin) Options() []plugin.Option { return nil }

// commands maps the events that plugins know to the commands of kubebuilder, and to the flag with which it asks for
// their flags.
var commands = map[plugin.EventType]struct{ command, flag string }{
	plugin.Init:          {"init", "--init"},
	plugin.CreateAPI:     {"create api", "--api"},
	plugin.CreateWebhook: {"create webhook", "--webhook"},
	plugin.Edit:          {"edit", "--edit"},
}

// Plan implements plugin.Plugin. Plugins are not idempotent, so a replay does not run them.
func (p *Plugin) Plan(ctx context.Context, e plugin.Event, plan *scaffold.Plan) error {
	does, known := commands[e.Type]
	if !known || e.Replay || e.Type == plugin.Edit && !p.Requested {
		return nil
	}
	sent, err := plan.Texts()
	if err != nil {
		return err
	}
	r := request{Command: does.command, Args: p.args(e), Universe: map[string]string{}, PluginChain: slices.Clone(e.Project.Layout)}
	size := 0
	for name, content := range sent {
		r.Universe[name] = string(content)
		size += len(content)
	}
	if size > maxTexts {
		return fault.Failed("move large texts out of the project, or remove the plugin from PROJECT",
			"the texts of this project have more than %d MiB, too much for the plugin %s", maxTexts>>20, p.Key())
	}
	if !slices.Contains(r.PluginChain, p.Key()) {
		r.PluginChain = append(r.PluginChain, p.Key())
	}
	if r.Config, err = configMap(e.Project, plan); err != nil {
		return err
	}
	answer, err := p.request(ctx, r)
	if err != nil {
		return err
	}
	return planChanged(p.Key(), sent, answer.Universe, plan)
}

// args returns the arguments for the program. Those of the kind may come from questions instead of
// the command line.
func (p *Plugin) args(e plugin.Event) []string {
	args := append([]string{}, p.Args...)
	if e.Resource == nil {
		return args
	}
	for _, f := range []struct{ name, value string }{
		{"--group", e.Resource.Group}, {"--version", e.Resource.Version}, {"--kind", e.Resource.Kind},
	} {
		given := slices.ContainsFunc(args, func(a string) bool { return a == f.name || strings.HasPrefix(a, f.name+"=") })
		if f.value != "" && !given {
			args = append(args, f.name, f.value)
		}
	}
	return args
}

// configMap returns PROJECT as the plugin reads it.
func configMap(c *project.Config, plan *scaffold.Plan) (map[string]any, error) {
	src, err := plan.Read(project.File)
	if err != nil {
		src = nil // init has not planned it yet
	}
	text, err := c.Encode(src)
	if err != nil {
		return nil, err
	}
	config := map[string]any{}
	return config, yaml.Unmarshal(text, &config)
}

// request sends a request, and returns the response unless it reports an error.
func (p *Plugin) request(ctx context.Context, r request) (response, error) {
	var answer response
	r.APIVersion = protocolVersion
	if r.Universe == nil {
		r.Universe = map[string]string{}
	}
	stdin, err := json.Marshal(r)
	if err != nil {
		return answer, err
	}
	out, failed := p.run(ctx, stdin)
	if failed != nil && len(out) == 0 {
		return answer, failed
	}
	err = decode(p.Key(), out, &answer)
	switch {
	case err == nil && answer.Error:
		return answer, p.failure(r.Command, answer.ErrorMsgs)
	case failed != nil:
		return answer, failed
	case err != nil:
		return answer, err
	case answer.APIVersion != "" && answer.APIVersion != protocolVersion:
		return answer, fault.Failed("use a version of the plugin for "+protocolVersion, "the plugin %s responds in version %q of the protocol, and operon speaks %s", p.Key(), answer.APIVersion, protocolVersion)
	}
	return answer, nil
}

// responseError is an error that the plugin itself reports.
type responseError struct{ fault *fault.Error }

func (e responseError) Error() string { return e.fault.Error() }
func (e responseError) Unwrap() error { return e.fault }

// failure returns the error that a plugin reports.
func (p *Plugin) failure(command string, messages []string) error {
	text := strings.Join(strings.Fields(strings.Join(messages, "; ")), " ")
	if text == "" {
		text = "it reports an error without a message"
	}
	hint := ""
	if strings.HasPrefix(command, "create ") {
		hint = "if the plugin has no " + command + ", remove it from the layout in PROJECT; operon edit --plugins " + p.Key() + " runs it without"
	}
	return responseError{fault.Failed(hint, "the plugin %s: %s", p.Key(), text)}
}
