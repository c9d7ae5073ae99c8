package hooks

import (
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// responders collects which binding responds to which requests, across hooks. If several
// bindings respond to the same requests, the engine registers the rules of the last one,
// but runs the hooks of all.
type responders struct {
	first    map[string]string // the first responder, by kind of request
	findings []finding.Finding
}

// duplicateResponders reports webhooks that the engine cannot distinguish, and
// conversions that several bindings do.
func duplicateResponders(hooks []Hook, configs []*config.Config) []finding.Finding {
	a := responders{first: map[string]string{}}
	for i, h := range hooks {
		c := configs[i]
		if c == nil || h.Owner != config.Shell {
			continue
		}
		for _, w := range c.Validating {
			a.add(h, "webhook "+pathOf(w.Name), "kubernetesValidating "+w.Name)
		}
		for _, w := range c.Mutating {
			a.add(h, "webhook "+pathOf(w.Name), "kubernetesMutating "+w.Name)
		}
		for _, v := range c.Conversion {
			for _, r := range v.Conversions {
				a.add(h, strings.Join([]string{"conversion", v.CRDName, short(r.FromVersion), short(r.ToVersion)}, " "),
					fmt.Sprintf("the conversion of %s from %s to %s", v.CRDName, r.FromVersion, r.ToVersion))
			}
		}
	}
	return a.findings
}

func (a *responders) add(h Hook, what, name string) {
	if first, taken := a.first[what]; taken {
		a.findings = append(a.findings, finding.Finding{File: h.Name, Rule: ruleDuplicateAnswer,
			Message: fmt.Sprintf("%s answers the same requests as %s, and the engine cannot tell them apart", name, first)})
		return
	}
	a.first[what] = fmt.Sprintf("%s of %s", name, h.Name)
}

// short returns a version without its group.
func short(version string) string { return version[strings.LastIndex(version, "/")+1:] }

var (
	capital = lazyregexp.New(`[A-Z]`)
	unsafe  = lazyregexp.New(`[^a-z0-9/]+`)
)

// pathOf returns the URL path that the engine derives from the name of a webhook.
func pathOf(name string) string {
	return unsafe().ReplaceAllString(strings.ToLower(capital().ReplaceAllString(name, "-$0")), "-")
}
