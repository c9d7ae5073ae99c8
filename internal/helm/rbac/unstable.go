package rbac

import (
	"maps"
	"slices"
	"strings"

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
	first := d.dryRun(d.LooksUp)
	for _, file := range differing(first, d.dryRun(d.LooksUp)) {
		line := d.lineOf(file, func(t template) int {
			if at := changing().FindStringIndex(t.text); at != nil {
				return 1 + strings.Count(t.text[:at[0]], "\n")
			}
			return 0
		})
		d.find(ruleUnstable.At(file, line, 0, "two renderings differ, "+again+": use a value, or keep the object that lookup finds, with dryRunOption: server in watches.yaml"))
	}
	if !lookups || d.LooksUp {
		return
	}
	for _, file := range differing(first, d.dryRun(true)) {
		line := d.lineOf(file, func(t template) int {
			if len(t.lookups) > 0 {
				return t.lookups[0].line
			}
			return 0
		})
		if line > 0 {
			d.find(ruleUnstable.At(file, line, 0, "lookup finds nothing in a dry run, "+again+": set dryRunOption: server in watches.yaml"))
		}
	}
}

// dryRun renders the chart with the first set of values that it accepts, as an upgrade. It returns no files if it accepts none.
func (d *deriver) dryRun(finds bool) map[string]string {
	r := chart.Renderer{Lenient: d.renderers[0].Lenient}
	if finds {
		r.Lookup = func(apiVersion, kind, namespace, name string) (map[string]any, error) {
			return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"namespace": namespace, "name": name}}, nil
		}
	}
	upgrade := release
	upgrade.Upgrade = true
	for _, set := range append([]ValueSet{{}}, d.Values...) {
		if rendered, err := r.Render(d.chart, d.values(set.Values), upgrade, d.cluster(false)); err == nil {
			return rendered
		}
	}
	return nil
}

// differing returns the files that both renderings have with other contents, sorted.
func differing(a, b map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(a)), func(file string) bool {
		other, both := b[file]
		return !both || other == a[file]
	})
}

// lineOf returns the line in the template with an output.
func (d *deriver) lineOf(file string, find func(t template) int) int {
	for _, t := range d.templates {
		if slices.Contains(t.rendered, file) {
			return find(t)
		}
	}
	return 0
}
