package roles

import (
	"cmp"
	"fmt"
	"strings"
)

// RoleReport is a role in the JSON report of operon hooks rbac.
type RoleReport struct {
	Kind      string       `json:"kind"`
	Name      string       `json:"name"`
	Namespace string       `json:"namespace,omitempty"`
	Rules     []RuleReport `json:"rules"`
}

// RuleReport is a rule in a RoleReport.
type RuleReport struct {
	APIGroups       []string `json:"apiGroups,omitempty"`
	Resources       []string `json:"resources,omitempty"`
	ResourceNames   []string `json:"resourceNames,omitempty"`
	NonResourceURLs []string `json:"nonResourceURLs,omitempty"`
	Verbs           []string `json:"verbs"`
	Origins         []Origin `json:"origins"`
}

// Report returns the roles in the form of the JSON report. The list is never nil.
func (l List) Report(n Names) []RoleReport {
	all := []RoleReport{}
	for _, role := range l {
		all = append(all, role.report(n))
	}
	return all
}

func (r Role) report(n Names) RoleReport {
	report := RoleReport{Kind: "Role", Name: cmp.Or(r.Name, n.Role), Namespace: cmp.Or(r.Namespace, n.Namespace), Rules: []RuleReport{}}
	if r.Cluster {
		report.Kind, report.Namespace = "ClusterRole", ""
	}
	for _, rule := range r.Rules {
		report.Rules = append(report.Rules, RuleReport{
			rule.APIGroups, rule.Resources, rule.ResourceNames, rule.NonResourceURLs, rule.Verbs, rule.Origins,
		})
	}
	return report
}

// Text returns each rule with its origins below it. faint styles the line of an origin.
func (l List) Text(n Names, faint func(string) string) string {
	var out strings.Builder
	for i, role := range l {
		if i > 0 {
			out.WriteString("\n")
		}
		head := role.report(n)
		title := head.Kind + " " + head.Name
		switch {
		case role.Cluster:
		case head.Namespace == "":
			title += " in the operator's namespace"
		default:
			title += " in namespace " + head.Namespace
		}
		out.WriteString(title + "\n")
		if len(role.Rules) == 0 {
			out.WriteString("  no rules\n")
		}
		for _, rule := range role.Rules {
			fmt.Fprintf(&out, "  %s %s\n", strings.Join(rule.Verbs, ", "), rule.subject())
			for _, origin := range rule.Origins {
				line := fmt.Sprintf("%s: %s", Place(origin.File, origin.Line), origin.Why)
				if len(origin.Verbs) < len(rule.Verbs) {
					line += " (" + strings.Join(origin.Verbs, ", ") + ")"
				}
				fmt.Fprintf(&out, "      %s\n", faint(line))
			}
		}
	}
	return out.String()
}

// Place returns a file with a line, unless that is 0.
func Place(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// subject returns what a rule is about, such as "deployments.apps named a, b".
func (r Rule) subject() string {
	if len(r.NonResourceURLs) > 0 {
		return strings.Join(r.NonResourceURLs, ", ")
	}
	var all []string
	for _, group := range r.APIGroups {
		for _, resource := range r.Resources {
			if group != "" {
				name, sub, slash := strings.Cut(resource, "/")
				resource = name + "." + group
				if slash {
					resource += "/" + sub
				}
			}
			all = append(all, resource)
		}
	}
	text := strings.Join(all, ", ")
	if len(r.ResourceNames) > 0 {
		text += " named " + strings.Join(r.ResourceNames, ", ")
	}
	return text
}
