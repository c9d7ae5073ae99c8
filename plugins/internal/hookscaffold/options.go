package hookscaffold

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
)

// bindingName matches names that can also be part of function names.
var bindingName = lazyregexp.New(`^[a-z][a-z0-9_-]*$`)

// OptionContext is the project's context in which options are parsed.
type OptionContext struct {
	Owner config.Owner
	Lang  string // default language of hooks
	Kinds *kubeapi.Kinds
	CRDs  string // folder of the CRDs, for hints
}

// optionParser builds a hook from the flags of `operon create hook`.
type optionParser struct {
	plugin.Event
	OptionContext
	hook Hook
}

// ParseOptions returns the validated hook that the options of e describe.
func ParseOptions(e plugin.Event, t OptionContext) (Hook, error) {
	a := &optionParser{Event: e, OptionContext: t, hook: Hook{Name: e.Name, Lang: cmp.Or(e.String("lang"), t.Lang)}}
	for _, step := range []func() error{
		func() error { return project.CheckHookName(a.hook.Name) },
		func() error { return checkLang(a.hook.Lang) },
		a.parseStartup, a.parseSteps, a.parseObjects, a.parseSchedules, a.parseAdmissions, a.parseConversions, a.parseFilters, a.checkRuns,
	} {
		if err := step(); err != nil {
			return Hook{}, err
		}
	}
	return a.hook, nil
}

func (a *optionParser) parseStartup() error {
	s := a.String("startup")
	if s == "" {
		return nil
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return fault.Usage("use --startup 10, for example; hooks start in ascending order", "--startup %s is not a number", s)
	}
	a.hook.Startup = &n
	return nil
}

// parseSteps reads the flags for addon-operator's module and global bindings.
func (a *optionParser) parseSteps() error {
	for _, step := range a.Owner.Steps() {
		flag := config.CommandLineName(step)
		given := a.String(flag)
		if given == "" {
			continue
		}
		n, err := strconv.Atoi(given)
		if err != nil || n < 0 {
			return fault.Usage("use --"+flag+" 10, for example; hooks run in ascending order", "--%s %s is not a number from 0", flag, given)
		}
		if a.hook.Steps == nil {
			a.hook.Steps = map[string]int{}
		}
		a.hook.Steps[step] = n
	}
	return nil
}

// parseObjects reads --on kubernetes:[NAME:]KIND,...
func (a *optionParser) parseObjects() error {
	for _, on := range a.Strings("on") {
		source, rest, found := strings.Cut(on, ":")
		if !found || strings.TrimSpace(source) != "kubernetes" || strings.TrimSpace(rest) == "" {
			return fault.Usage("write it as in --on kubernetes:Secret,pods:core/v1/Pod; for other bindings there are --schedule, --startup, --validate, --mutate and --convert",
				"--on %s is not of the form kubernetes:KIND or kubernetes:NAME:KIND", on)
		}
		for item := range strings.SplitSeq(rest, ",") {
			name, kind := "", item
			before, after, named := strings.Cut(item, ":")
			if named {
				name, kind = strings.TrimSpace(before), after
			}
			kind = strings.TrimSpace(kind)
			switch {
			case named && (name == "" || kind == ""):
				return fault.Usage("write it as in --on kubernetes:source:Secret", "--on %s: %q is not of the form NAME:KIND", on, item)
			case kind == "":
				return fault.Usage("write it as in --on kubernetes:Secret,pods:core/v1/Pod", "--on %s: a kind between commas is missing", on)
			}
			k, err := a.findKind("on", kind)
			if err != nil {
				return err
			}
			if name == "" {
				name = k.Resource
			}
			if err := a.checkBinding("on", name); err != nil {
				return err
			}
			a.hook.Kubernetes = append(a.hook.Kubernetes, Objects{Name: name, Kind: k})
		}
	}
	return nil
}

// checkBinding validates the name of a new binding.
func (a *optionParser) checkBinding(flag, name string) error {
	if !bindingName().MatchString(name) {
		return fault.Usage("use lower-case letters, digits, '_' and '-'", "--%s: binding name %q is not valid", flag, name)
	}
	if slices.Contains(a.bindings(), name) {
		return fault.Usage("give one of them a name, as in --on kubernetes:source:Secret,copies:Secret", "--%s: there are two bindings named %s", flag, name)
	}
	return nil
}

// bindings returns the names that filters can refer to.
func (a *optionParser) bindings() []string {
	var names []string
	for _, k := range a.hook.Kubernetes {
		names = append(names, k.Name)
	}
	for _, s := range a.hook.Schedule {
		names = append(names, s.Name)
	}
	return names
}

// findKind finds a kind by any of its names, by GROUP/VERSION/KIND, or by kubectl's name with
// the group, such as deployments.apps.
func (a *optionParser) findKind(flag, name string) (Kind, error) {
	apiVersion, kind := "", name
	if i := strings.LastIndex(name, "/"); i >= 0 {
		apiVersion, kind = strings.TrimPrefix(name[:i], "core/"), name[i+1:]
	}
	k, err := a.Kinds.Find(apiVersion, kind)
	if apiVersion == "" && strings.Contains(kind, ".") {
		k, err = a.Kinds.FindArgument(kind)
	}
	if err == nil {
		return Kind{APIVersion: k.APIVersion(), Kind: k.Kind, Resource: k.Resource, ClusterScoped: !k.Namespaced}, nil
	}
	hint := "use a built-in kind or one with a CRD in " + a.CRDs
	if a.Owner == config.Shell {
		hint += "; operon create api writes your own"
	}
	return Kind{}, fault.Usage(hint, "--%s %s: %v", flag, name, err)
}

func (a *optionParser) parseSchedules() error {
	for _, s := range a.Strings("schedule") {
		name, crontab := "tick", s
		if before, after, named := strings.Cut(s, ":"); named && bindingName().MatchString(strings.TrimSpace(before)) {
			name, crontab = strings.TrimSpace(before), after
		} else if n := len(a.hook.Schedule); n > 0 {
			name += strconv.Itoa(n + 1)
		}
		if crontab = strings.TrimSpace(crontab); crontab == "" {
			return errEmpty("schedule", s)
		}
		if err := a.checkBinding("schedule", name); err != nil {
			return err
		}
		a.hook.Schedule = append(a.hook.Schedule, Schedule{Name: name, Crontab: crontab})
	}
	return nil
}

// checkRuns rejects a hook that nothing triggers.
func (a *optionParser) checkRuns() error {
	h := a.hook
	runs := slices.ContainsFunc(h.Kubernetes, func(o Objects) bool { return !o.snapshotOnly() })
	if runs || h.Startup != nil || len(h.Steps)+len(h.Schedule)+len(h.Validate)+len(h.Mutate)+len(h.Convert) > 0 {
		return nil
	}
	flags := "--validate KIND, --mutate KIND or --convert FROM:TO"
	if steps := a.Owner.Steps(); len(steps) > 0 {
		all := make([]string, len(steps))
		for i, step := range steps {
			all[i] = "--" + config.CommandLineName(step) + " N"
		}
		flags = strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
	}
	return fault.Usage("add --on kubernetes:KIND, --schedule CRONTAB, --startup ORDER, "+flags, "nothing would run the hook %s", h.Name)
}
