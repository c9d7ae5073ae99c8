package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/scaffold"
)

// unknownKinds is an error when the roles lack something for that.
func unknownKinds(r rbac.Result) error {
	for _, f := range r.Findings {
		if f.Rule == rbac.RuleUnknownKind {
			return fault.Differences(f.Hint, "%s: %s", rbacPlace(f.File, f.Line), f.Message)
		}
	}
	return nil
}

// withoutFirst leaves out what unknownKinds makes an error of.
func withoutFirst(warnings []scaffold.Warning) []scaffold.Warning {
	if i := slices.IndexFunc(warnings, func(w scaffold.Warning) bool { return w.Rule == rbac.RuleUnknownKind }); i >= 0 {
		return slices.Delete(slices.Clone(warnings), i, i+1)
	}
	return warnings
}

func rbacPlace(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

func rbacWarnings(r rbac.Result) []scaffold.Warning {
	var all []scaffold.Warning
	for _, f := range r.Findings {
		all = append(all, scaffold.Warning{File: f.File, Line: f.Line, Column: f.Column, Rule: f.Rule, Message: f.Text()})
	}
	return all
}

// rolesFrame is the JSON form.
type rolesFrame struct {
	APIVersion string                 `json:"apiVersion"`
	Kind       string                 `json:"kind"`
	Roles      []roleFrame            `json:"roles"`
	Warnings   []command.WarningFrame `json:"warnings"`
}

type roleFrame struct {
	Kind      string      `json:"kind"`
	Name      string      `json:"name"`
	Namespace string      `json:"namespace,omitempty"`
	Rules     []ruleFrame `json:"rules"`
}

type ruleFrame struct {
	APIGroups       []string      `json:"apiGroups,omitempty"`
	Resources       []string      `json:"resources,omitempty"`
	ResourceNames   []string      `json:"resourceNames,omitempty"`
	NonResourceURLs []string      `json:"nonResourceURLs,omitempty"`
	Verbs           []string      `json:"verbs"`
	Origins         []rbac.Origin `json:"origins"`
}

func (o *hooksRBAC) print(a *command.App, r rbac.Result, n rbac.Names) error {
	var err error
	warnings := rbacWarnings(r)
	switch o.output {
	case "json":
		f := rolesFrame{command.APIVersion, "Roles", []roleFrame{}, []command.WarningFrame{}}
		for _, role := range r.Roles {
			f.Roles = append(f.Roles, frameOf(role, n))
		}
		for _, w := range warnings {
			f.Warnings = append(f.Warnings, command.WarningFrame(w))
		}
		err = command.PrintJSON(a.Out, f)
	case "yaml":
		var content []byte
		if content, err = r.YAML(n); err == nil {
			_, err = a.Out.Write(content)
		}
		a.PrintWarnings(withoutFirst(warnings))
	default:
		_, err = io.WriteString(a.Out, rolesText(r, n, command.Painter(a.Out, a.Getenv)))
		a.PrintWarnings(withoutFirst(warnings))
	}
	if err != nil {
		return err
	}
	return unknownKinds(r)
}

func frameOf(role rbac.Role, n rbac.Names) roleFrame {
	f := roleFrame{Kind: "Role", Name: cmp.Or(role.Name, n.Role), Namespace: cmp.Or(role.Namespace, n.Namespace), Rules: []ruleFrame{}}
	if role.Cluster {
		f.Kind, f.Namespace = "ClusterRole", ""
	}
	for _, r := range role.Rules {
		f.Rules = append(f.Rules, ruleFrame{r.APIGroups, r.Resources, r.ResourceNames, r.NonResourceURLs, r.Verbs, r.Origins})
	}
	return f
}

// rolesText explains roles rule by rule.
func rolesText(r rbac.Result, n rbac.Names, paint func(string, string) string) string {
	var out strings.Builder
	for i, role := range r.Roles {
		if i > 0 {
			out.WriteString("\n")
		}
		head := frameOf(role, n)
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
			out.WriteString("  nothing\n")
		}
		for _, rule := range role.Rules {
			fmt.Fprintf(&out, "  %s %s\n", strings.Join(rule.Verbs, ", "), ruleSubject(rule))
			for _, origin := range rule.Origins {
				line := fmt.Sprintf("%s: %s", rbacPlace(origin.File, origin.Line), origin.Why)
				if len(origin.Verbs) < len(rule.Verbs) {
					line += " (" + strings.Join(origin.Verbs, ", ") + ")"
				}
				fmt.Fprintf(&out, "      %s\n", paint(command.Faint, line))
			}
		}
	}
	return out.String()
}

// ruleSubject is what a rule is about: deployments.apps a, b.
func ruleSubject(rule rbac.Rule) string {
	if len(rule.NonResourceURLs) > 0 {
		return strings.Join(rule.NonResourceURLs, ", ")
	}
	var all []string
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
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
	if len(rule.ResourceNames) > 0 {
		text += " named " + strings.Join(rule.ResourceNames, ", ")
	}
	return text
}
