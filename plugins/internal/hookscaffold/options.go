package hookscaffold

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// bindingName matches names that can also be part of function names.
var bindingName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// Kinds returns the built-in kinds and those of the CRDs in folders of the project. mean
// selects the files that contain CRDs by their path in the folder.
func Kinds(p *scaffold.Plan, mean func(name string) bool, folders ...string) (*kinds.Table, error) {
	var all []kinds.CRD
	err := eachCRDFile(p, mean, folders, func(text []byte) error {
		crds, err := kinds.FromYAML(text)
		all = append(all, crds...)
		return err
	})
	return kinds.Builtin().With(all...), err
}

// IsYAML reports whether name is a YAML file directly in its folder.
func IsYAML(name string) bool { return path.Ext(name) == ".yaml" && path.Dir(name) == "." }

// eachCRDFile reads the files with CRDs, which mean selects by their path in a folder.
func eachCRDFile(p *scaffold.Plan, mean func(name string) bool, folders []string, read func(text []byte) error) error {
	for _, folder := range folders {
		files, err := p.Below(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, name := range files {
			if !mean(strings.TrimPrefix(name, folder+"/")) || !p.Exists(name) {
				continue
			}
			text, err := p.Read(name)
			if err != nil {
				return err
			}
			if err := read(text); err != nil {
				return fault.In(name, err)
			}
		}
	}
	return nil
}

// OptionContext is the project's context in which options are parsed.
type OptionContext struct {
	Owner config.Owner
	Lang  string // default language of hooks
	Kinds *kinds.Table
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
		return fault.Usage("such as --startup 10: hooks start in ascending order", "--startup %s is not a number", s)
	}
	a.hook.Startup = &n
	return nil
}

// parseSteps reads the flags for addon-operator's module and global bindings.
func (a *optionParser) parseSteps() error {
	for _, step := range a.Owner.Steps() {
		flag := config.Event(step)
		given := a.String(flag)
		if given == "" {
			continue
		}
		n, err := strconv.Atoi(given)
		if err != nil || n < 0 {
			return fault.Usage("such as --"+flag+" 10: hooks run in ascending order", "--%s %s is not a number from 0", flag, given)
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
				"--on %s: kubernetes:KIND is expected", on)
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
				return fault.Usage("write it as in --on kubernetes:source:Secret", "--on %s: NAME:KIND is expected, got %q", on, item)
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
	if !bindingName.MatchString(name) {
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
		k, err = a.Kinds.Argument(kind)
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
		if before, after, named := strings.Cut(s, ":"); named && bindingName.MatchString(strings.TrimSpace(before)) {
			name, crontab = strings.TrimSpace(before), after
		} else if n := len(a.hook.Schedule); n > 0 {
			name += strconv.Itoa(n + 1)
		}
		if crontab = strings.TrimSpace(crontab); crontab == "" {
			return empty("schedule", s)
		}
		if err := a.checkBinding("schedule", name); err != nil {
			return err
		}
		a.hook.Schedule = append(a.hook.Schedule, Schedule{Name: name, Crontab: crontab})
	}
	return nil
}

func (a *optionParser) parseAdmissions() error {
	for _, ask := range []struct {
		flag string
		list *[]Admission
	}{{"validate", &a.hook.Validate}, {"mutate", &a.hook.Mutate}} {
		for _, name := range a.Strings(ask.flag) {
			k, err := a.findKind(ask.flag, name)
			if err != nil {
				return err
			}
			d := Admission{Name: a.webhookName(ask.flag, k), Kind: k}
			if slices.Contains(*ask.list, d) {
				return fault.Usage("name it once", "--%s: %s is given twice", ask.flag, k.Kind)
			}
			*ask.list = append(*ask.list, d)
		}
	}
	return nil
}

// webhookName returns a name that is unique in the project and has at least three parts, as
// the API server requires: validate-secrets.my-hook.example.org
func (a *optionParser) webhookName(verb string, k Kind) string {
	parts := []string{verb + "-" + k.Resource, a.hook.Name, a.Project.Domain}
	if parts[2] == "" {
		parts[2] = a.Project.ProjectName
	}
	return strings.Join(parts, ".")
}

// parseConversions reads --convert FROM:TO. All values apply to the kind of --crd.
func (a *optionParser) parseConversions() error {
	steps, crd := a.Strings("convert"), a.String("crd")
	if len(steps) == 0 {
		if crd != "" {
			return fault.Usage("add --convert v1alpha1:v1", "--crd is for --convert")
		}
		return nil
	}
	k, err := a.conversionKind(crd)
	if err != nil {
		return err
	}
	c := Conversion{Name: "convert-" + k.Resource, CRD: k.Resource + "." + k.Group, Group: k.Group, Kind: k.Kind, Scope: ScopeName(!k.Namespaced)}
	for _, s := range steps {
		from, to, found := strings.Cut(s, ":")
		step := Step{From: from, To: to}
		switch {
		case !found || project.CheckVersion(from) != nil || project.CheckVersion(to) != nil:
			return fault.Usage("write it as in --convert v1alpha1:v1", "--convert %s: FROM:TO is expected, with versions of the API", s)
		case from == to:
			return fault.Usage("name two versions", "--convert %s: both versions are equal", s)
		case slices.Contains(c.Steps, step):
			return fault.Usage("name it once", "--convert %s is given twice", s)
		}
		for _, version := range []string{from, to} {
			if !slices.Contains(k.Versions, version) {
				return fault.Usage("it has "+strings.Join(k.Versions, ", ")+"; operon create api adds a version", "--convert %s: %s has no version %s", s, c.CRD, version)
			}
		}
		c.Steps = append(c.Steps, step)
	}
	a.hook.Convert = append(a.hook.Convert, c)
	return nil
}

// ScopeName returns the scope of a kind as in webhooks and CRDs: Cluster or Namespaced.
func ScopeName(cluster bool) string {
	if cluster {
		return "Cluster"
	}
	return "Namespaced"
}

// conversionKind returns the kind that --crd selects by the CRD's name or by a name of the
// kind. Without --crd, exactly one kind must have several versions.
func (a *optionParser) conversionKind(crd string) (kinds.Kind, error) {
	var several []kinds.Kind
	for _, k := range a.Kinds.Preferred() {
		if _, own := kinds.Builtin().Resource(k.Group, k.Resource); own {
			continue
		}
		if crd == k.String() || strings.EqualFold(crd, k.Kind) || crd == k.Resource {
			return k, nil
		}
		if len(k.Versions) > 1 {
			several = append(several, k)
		}
	}
	switch {
	case crd != "":
		return kinds.Kind{}, fault.Usage("create it first: operon create api", "--crd %s: there is no such CRD in %s", crd, a.CRDs)
	case len(several) == 1:
		return several[0], nil
	}
	if len(several) == 0 {
		return kinds.Kind{}, fault.Usage("add the second one first: operon create api --group GROUP --version VERSION --kind KIND", "--convert: no CRD in %s has more than one version", a.CRDs)
	}
	return kinds.Kind{}, fault.Usage("choose one: --crd "+several[0].String(), "--convert: %d CRDs in %s have more than one version", len(several), a.CRDs)
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
			all[i] = "--" + config.Event(step) + " N"
		}
		flags = strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
	}
	return fault.Usage("add --on kubernetes:KIND, --schedule CRONTAB, --startup N, "+flags, "nothing would run the hook %s", h.Name)
}

// jsonString returns s as a JSON string, which is also valid YAML.
func jsonString(s string) string {
	b, err := json.Marshal(s)
	if err != nil { // text always has a form
		return s
	}
	return string(b)
}
