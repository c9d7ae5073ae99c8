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

// kubebuilderVersion is the only version of kubebuilder's protocol.
const kubebuilderVersion = "v1alpha1"

// maxTexts limits the size of the texts that a plugin gets.
const maxTexts = 64 << 20

// kubebuilderRequest is what a plugin of kubebuilder reads from stdin.
type kubebuilderRequest struct {
	APIVersion  string            `json:"apiVersion"`
	Args        []string          `json:"args"`
	Command     string            `json:"command"`
	Universe    map[string]string `json:"universe"`
	PluginChain []string          `json:"pluginChain,omitempty"`
	Config      map[string]any    `json:"config,omitempty"` // PROJECT
}

// kubebuilderResponse is what it prints on stdout.
type kubebuilderResponse struct {
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

// KubebuilderPlugin is a plugin that speaks kubebuilder's protocol.
type KubebuilderPlugin struct {
	Program
	Args []string // the command line, as kubebuilder passes it on
	// Requested is true if the command line names the plugin or has one of its flags. Without that, edit does not run
	// it: it would get none of the flags of earlier calls.
	Requested bool
}

var _ plugin.Plugin = &KubebuilderPlugin{}

// Name implements plugin.Plugin.
func (p *KubebuilderPlugin) Name() string { return p.Key() }

// Doc implements plugin.Plugin.
func (p *KubebuilderPlugin) Doc() string { return "installed in " + p.Path }

// Options implements plugin.Plugin. The flags are known only to the program: see Flags.
func (p *KubebuilderPlugin) Options() []plugin.Option { return nil }

// kubebuilderCommands maps the events that plugins of kubebuilder know to its commands, and to the flag with
// which it asks for their flags.
var kubebuilderCommands = map[plugin.EventType]struct{ command, flag string }{
	plugin.Init:          {"init", "--init"},
	plugin.CreateAPI:     {"create api", "--api"},
	plugin.CreateWebhook: {"create webhook", "--webhook"},
	plugin.Edit:          {"edit", "--edit"},
}

// Plan implements plugin.Plugin. The plugins of kubebuilder are not idempotent, so a replay does not run
// them.
func (p *KubebuilderPlugin) Plan(ctx context.Context, e plugin.Event, plan *scaffold.Plan) error {
	does, known := kubebuilderCommands[e.Type]
	if !known || e.Replay || e.Type == plugin.Edit && !p.Requested {
		return nil
	}
	sent, err := plan.Texts()
	if err != nil {
		return err
	}
	request := kubebuilderRequest{Command: does.command, Args: p.args(e), Universe: map[string]string{}, PluginChain: slices.Clone(e.Project.Layout)}
	size := 0
	for name, content := range sent {
		request.Universe[name] = string(content)
		size += len(content)
	}
	if size > maxTexts {
		return fault.Failed("use a plugin for operon's protocol, which names the files that it reads",
			"the texts of this project have more than %d MiB, too much for the plugin %s", maxTexts>>20, p.Key())
	}
	if !slices.Contains(request.PluginChain, p.Key()) {
		request.PluginChain = append(request.PluginChain, p.Key())
	}
	if request.Config, err = configMap(e.Project, plan); err != nil {
		return err
	}
	response, err := p.request(ctx, request)
	if err != nil {
		return err
	}
	return planChanged(p.Key(), sent, response.Universe, plan)
}

// args returns the arguments for the program. Those of the kind may come from questions instead of
// the command line.
func (p *KubebuilderPlugin) args(e plugin.Event) []string {
	args := append([]string{}, p.Args...)
	if e.Resource == nil {
		return args
	}
	for _, f := range []struct{ name, value string }{{"--group", e.Resource.Group}, {"--version", e.Resource.Version}, {"--kind", e.Resource.Kind}} {
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
func (p *KubebuilderPlugin) request(ctx context.Context, r kubebuilderRequest) (kubebuilderResponse, error) {
	var response kubebuilderResponse
	r.APIVersion = kubebuilderVersion
	if r.Universe == nil {
		r.Universe = map[string]string{}
	}
	stdin, err := json.Marshal(r)
	if err != nil {
		return response, err
	}
	out, failed := p.run(ctx, stdin)
	if failed != nil && len(out) == 0 {
		return response, failed
	}
	err = decode(p.Key(), out, false, &response)
	switch {
	case err == nil && response.Error:
		return response, p.failure(r.Command, response.ErrorMsgs)
	case failed != nil:
		return response, failed
	case err != nil:
		return response, err
	case response.APIVersion != "" && response.APIVersion != kubebuilderVersion:
		return response, fault.Failed("use a version of the plugin for "+kubebuilderVersion, "the plugin %s responds in version %q of the protocol, and operon speaks %s", p.Key(), response.APIVersion, kubebuilderVersion)
	}
	return response, nil
}

// responseError is an error that the plugin itself reports.
type responseError struct{ fault *fault.Error }

func (e responseError) Error() string { return e.fault.Error() }
func (e responseError) Unwrap() error { return e.fault }

// failure returns the error that a plugin reports.
func (p *KubebuilderPlugin) failure(command string, messages []string) error {
	text := joinLines(strings.Join(messages, "; "))
	if text == "" {
		text = "it reports an error without a message"
	}
	hint := ""
	if strings.HasPrefix(command, "create ") {
		hint = "if the plugin has no " + command + ", remove it from the layout in PROJECT; operon edit --plugins " + p.Key() + " runs it without"
	}
	return responseError{fault.Failed(hint, "the plugin %s: %s", p.Key(), text)}
}
