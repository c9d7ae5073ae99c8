package rbac

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// changing are the functions of templates whose results differ each time.
var changing = lazyregexp.New(`\b(rand\w+|now|ago|gen(CA|SelfSignedCert|SignedCert|PrivateKey)\w*|uuidv4|htpasswd|bcrypt|shuffle|encryptAES)\b`)

// unstable reports templates whose output differs between two renderings with the same values. helm-operator compares a dry
// run with the release, and upgrades the release if they differ. In a dry run, lookup finds nothing unless dryRunOption is
// server: what exists then decides, and not the first installation.
func (d *deriver) unstable() {
	lookups := slices.ContainsFunc(d.templates, func(t template) bool { return len(t.lookups) > 0 })
	if !lookups && !slices.ContainsFunc(d.templates, func(t template) bool { return changing().MatchString(t.text) }) {
		return
	}
	const again = "so helm-operator upgrades the release each time it compares it with the cluster"
	now := time.Now()
	first, rendered := d.dryRun(d.LooksUp, now)
	second, _ := d.dryRun(d.LooksUp, now.AddDate(0, 1, 1).Add(time.Hour+time.Second))
	for _, file := range differing(first, second) {
		source, line := d.changingLine(file)
		d.find(ruleUnstable.At(source, line, 0, "two renderings differ, "+again+": use a value, or keep the object that lookup finds, with dryRunOption: server in watches.yaml"))
	}
	if !lookups || d.LooksUp || !rendered {
		return
	}
	found, ok := d.dryRun(true, now)
	for _, t := range d.templates {
		for _, file := range t.rendered {
			// A template that fails with the stand-in uses what lookup finds.
			if len(t.lookups) > 0 && first[file] != "" && (!ok || found[file] != first[file]) {
				d.find(ruleUnstable.At(t.file, t.lookups[0].line, 0, "lookup finds nothing in a dry run, "+again+": set dryRunOption: server in watches.yaml"))
			}
		}
	}
}

// dryRun renders the chart with the first set of values that it accepts, as an upgrade at a time. It returns the objects that
// a release has, in JSON by the file of their template: neither hooks nor notes. ok is false if the chart does not render.
func (d *deriver) dryRun(finds bool, now time.Time) (objects map[string]string, ok bool) {
	r := chart.Renderer{Lenient: d.renderers[0].Lenient, Now: func() time.Time { return now }}
	if finds {
		r.Lookup = func(apiVersion, kind, namespace, name string) (map[string]any, error) {
			return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"namespace": namespace, "name": name}}, nil
		}
	}
	upgrade := release
	upgrade.Upgrade = true
	for _, set := range append([]ValueSet{{}}, d.Values...) {
		rendered, err := r.Render(d.chart, d.values(set.Values), upgrade, d.cluster(false))
		if err != nil {
			continue
		}
		all, err := objectsIn(rendered)
		if err != nil {
			return nil, false
		}
		objects = map[string]string{}
		for _, one := range all {
			if text, err := one.object.MarshalJSON(); err == nil && one.object.GetAnnotations()["helm.sh/hook"] == "" {
				objects[one.file] += string(text)
			}
		}
		return objects, true
	}
	return nil, false
}

// differing returns the files that both renderings have with other objects, sorted.
func differing(a, b map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(a)), func(file string) bool {
		other, both := b[file]
		return !both || other == a[file]
	})
}

// changingLine returns the template with an output, and the line of its first function whose results differ, or 0.
func (d *deriver) changingLine(output string) (file string, line int) {
	for _, t := range d.templates {
		if !slices.Contains(t.rendered, output) {
			continue
		}
		if at := changing().FindStringIndex(t.text); at != nil {
			line = 1 + strings.Count(t.text[:at[0]], "\n")
		}
		return t.file, line
	}
	return output, 0
}
