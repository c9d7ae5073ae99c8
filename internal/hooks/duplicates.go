package hooks

import (
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// responders records, across hooks, which binding responds to which requests. If several
// bindings respond to the same requests, the engine registers the rules of the last one,
// but runs the hooks of all.
type responders struct {
	first    map[string]string // the first responder, by kind of request
	findings []finding.Finding
}

// duplicateResponders reports webhooks that the engine cannot distinguish, and conversions
// that several bindings perform.
func duplicateResponders(hooks []Hook, configs []*config.Config) []finding.Finding {
	r := responders{first: map[string]string{}}
	for i, h := range hooks {
		c := configs[i]
		if c == nil || h.Owner != config.Shell {
			continue
		}
		for _, w := range c.Validating {
			r.add(h, "webhook "+urlPath(w.Name), "kubernetesValidating "+w.Name)
		}
		for _, w := range c.Mutating {
			r.add(h, "webhook "+urlPath(w.Name), "kubernetesMutating "+w.Name)
		}
		for _, v := range c.Conversion {
			for _, rule := range v.Conversions {
				request := strings.Join([]string{"conversion", v.CRDName, withoutGroup(rule.FromVersion), withoutGroup(rule.ToVersion)}, " ")
				r.add(h, request, fmt.Sprintf("the conversion of %s from %s to %s", v.CRDName, rule.FromVersion, rule.ToVersion))
			}
		}
	}
	return r.findings
}

// add records that a binding of a hook responds to a kind of request.
func (r *responders) add(h Hook, request, name string) {
	if first, exists := r.first[request]; exists {
		r.findings = append(r.findings, ruleDuplicateAnswer.At(h.Name, 0, 0, "%s answers the same requests as %s, and the engine cannot tell them apart", name, first))
		return
	}
	r.first[request] = fmt.Sprintf("%s of %s", name, h.Name)
}

// withoutGroup returns a version without its group.
func withoutGroup(version string) string { return version[strings.LastIndex(version, "/")+1:] }

var (
	upperCase   = lazyregexp.New(`[A-Z]`)
	invalidPath = lazyregexp.New(`[^a-z0-9/]+`)
)

// urlPath returns the URL path that the engine derives from the name of a webhook.
func urlPath(name string) string {
	return invalidPath().ReplaceAllString(strings.ToLower(upperCase().ReplaceAllString(name, "-$0")), "-")
}
