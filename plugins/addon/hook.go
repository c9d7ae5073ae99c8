package addon

import (
	"bytes"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hook/kinds"
	"github.com/operon-dev/operon/internal/hook/module"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/render"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/templates"
	"go.yaml.in/yaml/v3"
)

// step is a part of the engine's work that hooks can be bound to.
type step struct {
	flag, binding string
	global        bool
	usage         string
}

var steps = []step{
	{"before-all", "beforeAll", true, "run a global hook before any module, by `ORDER`"},
	{"after-all", "afterAll", true, "run a global hook after all modules, by `ORDER`"},
	{"before-helm", "beforeHelm", false, "run before the chart of the module is installed or upgraded, by `ORDER`"},
	{"after-helm", "afterHelm", false, "run after that, by `ORDER`"},
	{"before-delete-helm", "beforeDeleteHelm", false, "run before the module's release is deleted, by `ORDER`"},
	{"after-delete-helm", "afterDeleteHelm", false, "run after that, by `ORDER`"},
}

// unheard are flags of create hook that are for shell-operator, or that are
// written by hand here.
var unheard = []string{"validate", "mutate", "convert", "namespace", "name", "selector", "field-selector", "jq", "events", "group", "queue"}

var (
	hookName    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	bindingName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)
)

// createHook plans the hook that the options describe, and records it.
func createHook(e plugin.Event, p *scaffold.Plan) error {
	r, err := recorded(e.Project)
	if err != nil {
		return err
	}
	h, err := asked(e, r)
	if err != nil {
		return err
	}
	switch old, known := r.hook(h.Module, h.Name); {
	case known && !reflect.DeepEqual(old, h):
		return fault.Usage("edit "+r.file(old)+", or choose another name", "the hook %s exists with other bindings", h.Name)
	case !known:
		r.Hooks = append(r.Hooks, h)
		r.save(e.Project)
	}
	return planHook(r, h, p)
}

// asked is the hook that the options of e describe.
func asked(e plugin.Event, r record) (Hook, error) {
	h := Hook{Name: e.String("hook"), Module: e.String("module")}
	if !hookName.MatchString(h.Name) {
		return h, fault.Usage("lower-case letters, digits and '-'", "hook name %q is no name of a file", h.Name)
	}
	if _, known := r.module(h.Module); h.Module != "" && !known {
		var names []string
		for _, m := range r.Modules {
			names = append(names, m.Name)
		}
		hint := "create it first: operon create module " + h.Module
		if near := fault.Nearest(h.Module, names); near != "" {
			hint = "did you mean --module " + near + "?"
		}
		return h, fault.Usage(hint, "there is no module %s", h.Module)
	}
	for _, flag := range unheard {
		if len(e.Strings(flag)) > 0 {
			return h, fault.Usage("leave it out, and write it into the configuration of the hook", "--%s is not for hooks of addon-operator", flag)
		}
	}
	var err error
	if s := e.String("startup"); s != "" {
		n, err := order("startup", s)
		if err != nil {
			return h, err
		}
		h.Startup = &n
	}
	if h.Steps, err = stepsOf(e, h.Module); err != nil {
		return h, err
	}
	if err := h.bind(e); err != nil {
		return h, err
	}
	if h.Startup == nil && len(h.Steps)+len(h.Kubernetes)+len(h.Schedule) == 0 {
		hint := "add --before-all N, --after-all N, --startup N, --on kubernetes:KIND or --schedule CRONTAB; a hook of a module has --module and --before-helm N"
		if h.Module != "" {
			hint = "add --before-helm N, --after-helm N, --before-delete-helm N, --after-delete-helm N, --startup N, --on kubernetes:KIND or --schedule CRONTAB"
		}
		return h, fault.Usage(hint, "nothing would run the hook %s", h.Name)
	}
	return h, nil
}

// order reads a number by which hooks are sorted; the engine takes none below 0.
func order(flag, s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, fault.Usage("such as --"+flag+" 10: hooks run in ascending order", "--%s %s is no number from 0 up", flag, s)
	}
	return n, nil
}

func stepsOf(e plugin.Event, of string) (map[string]int, error) {
	var all map[string]int
	for _, s := range steps {
		given := e.String(s.flag)
		switch {
		case given == "":
			continue
		case s.global && of != "":
			return nil, fault.Usage("leave out --module", "--%s is for global hooks", s.flag)
		case !s.global && of == "":
			return nil, fault.Usage("add --module NAME", "--%s is for hooks of a module", s.flag)
		}
		n, err := order(s.flag, given)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = map[string]int{}
		}
		all[s.binding] = n
	}
	return all, nil
}

// bind reads --on and --schedule.
func (h *Hook) bind(e plugin.Event) error {
	var taken []string
	take := func(flag, name string) error {
		switch {
		case !bindingName.MatchString(name):
			return fault.Usage("use lower-case letters, digits, '_' and '-'", "--%s: binding name %q is not of the form name", flag, name)
		case slices.Contains(taken, name):
			return fault.Usage("give one of them a name, as in --on kubernetes:mine:Secret", "--%s: there are two bindings named %s", flag, name)
		}
		taken = append(taken, name)
		return nil
	}
	for _, on := range e.Strings("on") {
		rest, found := strings.CutPrefix(on, "kubernetes:")
		if !found || rest == "" {
			return fault.Usage("write it as in --on kubernetes:Secret,pods:core/v1/Pod", "--on %s: kubernetes:KIND is expected", on)
		}
		for item := range strings.SplitSeq(rest, ",") {
			name, kind, named := strings.Cut(item, ":")
			if !named {
				name, kind = "", item
			}
			apiVersion := ""
			if i := strings.LastIndex(kind, "/"); i >= 0 {
				apiVersion, kind = strings.TrimPrefix(kind[:i], "core/"), kind[i+1:]
			}
			k, err := kinds.Builtin().Find(apiVersion, kind)
			if err != nil {
				return fault.Usage("name one of Kubernetes; write that of a CRD into the configuration of the hook", "--on %s: %v", item, err)
			}
			if name == "" {
				name = k.Resource
			}
			if err := take("on", name); err != nil {
				return err
			}
			h.Kubernetes = append(h.Kubernetes, Objects{name, k.APIVersion(), k.Kind})
		}
	}
	for i, s := range e.Strings("schedule") {
		name, crontab, named := strings.Cut(s, ":")
		if !named || !bindingName.MatchString(name) {
			name, crontab = "tick", s
			if i > 0 {
				name += strconv.Itoa(i + 1)
			}
		}
		if err := take("schedule", name); err != nil {
			return err
		}
		h.Schedule = append(h.Schedule, Schedule{name, strings.TrimSpace(crontab)})
	}
	return nil
}

// file is the path of a hook in the project.
func (r record) file(h Hook) string {
	if m, known := r.module(h.Module); known {
		return m.Folder() + "/hooks/" + h.Name + ".sh"
	}
	return "global-hooks/hooks/" + h.Name + ".sh"
}

// planHook plans a hook that r records.
func planHook(r record, h Hook, p *scaffold.Plan) error {
	config, err := h.config()
	if err != nil {
		return err
	}
	file := r.file(h)
	data := struct {
		Hook
		Config, Library, Key, File string
		Tests                      []test
	}{h, config, strings.Repeat("../", strings.Count(path.Dir(file), "/")+1) + libraryFile, "global", file, h.tests()}
	if h.Module != "" {
		data.Key = module.Key(h.Module)
	}
	if err := render.Tree(templates.FS, "addon/hook", map[string]string{"file": file}, data, p.Seed); err != nil {
		return err
	}
	return render.Tree(templates.FS, "addon/hooktest", map[string]string{"file": h.testFile()}, data, p.Seed)
}

// config is the configuration that the hook prints.
func (h Hook) config() (string, error) {
	root := &yaml.Node{Kind: yaml.MappingNode}
	add := func(key string, v any) error {
		var n yaml.Node
		if err := n.Encode(v); err != nil {
			return err
		}
		root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, &n)
		return nil
	}
	err := add("configVersion", "v1")
	if h.Startup != nil && err == nil {
		err = add("onStartup", *h.Startup)
	}
	for _, s := range steps {
		if n, bound := h.Steps[s.binding]; bound && err == nil {
			err = add(s.binding, n)
		}
	}
	type objects struct {
		Name       string `yaml:"name"`
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
		JQFilter   string `yaml:"jqFilter,omitempty"`
		KeepFull   *bool  `yaml:"keepFullObjectsInMemory,omitempty"`
	}
	var watched []objects
	for _, o := range h.Kubernetes {
		w := objects{Name: o.Name, APIVersion: o.APIVersion, Kind: o.Kind}
		if o.APIVersion == "v1" && o.Kind == "Secret" {
			// All of the cluster, whole, are not for the engine's memory.
			w.JQFilter, w.KeepFull = ".metadata | {namespace, name, resourceVersion}", new(bool)
		}
		watched = append(watched, w)
	}
	if len(watched) > 0 && err == nil {
		err = add("kubernetes", watched)
	}
	type schedule struct {
		Name    string `yaml:"name"`
		Crontab string `yaml:"crontab"`
	}
	var times []schedule
	for _, s := range h.Schedule {
		times = append(times, schedule(s))
	}
	if len(times) > 0 && err == nil {
		err = add("schedule", times)
	}
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	if err := enc.Encode(root); err != nil {
		return "", err
	}
	return out.String(), enc.Close()
}
