package hooks

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/config"
)

// answers is what several bindings answer, whichever hook they are in: of one webhook
// the engine registers the rules of the last, and it runs the hooks of all for each
// request.
type answers struct {
	by       map[string]string // who answers, by what
	findings []finding.Finding
}

// answeredTwice finds webhooks that the engine does not tell apart, and conversions that
// several bindings do.
func duplicateAnswers(hooks []Hook, configs []*config.Config) []finding.Finding {
	a := answers{by: map[string]string{}}
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

func (a *answers) add(h Hook, what, name string) {
	if first, taken := a.by[what]; taken {
		a.findings = append(a.findings, finding.Finding{File: h.Name, Rule: ruleDuplicateAnswer,
			Message: fmt.Sprintf("%s answers the same requests as %s, and the engine cannot tell them apart", name, first)})
		return
	}
	a.by[what] = fmt.Sprintf("%s of %s", name, h.Name)
}

// short is a version without its group.
func short(version string) string { return version[strings.LastIndex(version, "/")+1:] }

var (
	capital = regexp.MustCompile(`[A-Z]`)
	unsafe  = regexp.MustCompile(`[^a-z0-9/]+`)
)

// pathOf is what the engine makes of the name of a webhook, to be its address.
func pathOf(name string) string {
	return unsafe.ReplaceAllString(strings.ToLower(capital.ReplaceAllString(name, "-$0")), "-")
}
