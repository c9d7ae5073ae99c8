package marker

import (
	"cmp"
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/scaffold"
	"sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/controller-tools/pkg/rbac"
	"sigs.k8s.io/controller-tools/pkg/webhook"
)

// Rules of the warnings about markers.
const (
	ruleUnknown      = "marker-unknown"     // no generator knows the name
	ruleIgnored      = "marker-ignored"     // the marker has no effect at its position
	ruleGroupVersion = "rbac-group-version" // an API group with a version matches nothing
	ruleWebhookGroup = "webhook-group-version"
	ruleWebhookValue = "webhook-value" // API servers do not know a word
	ruleWebhookPath  = "webhook-path"  // the webhook has another path
	ruleQuotes       = "marker-quotes" // quotes that are part of the value
)

// warnings returns the warnings about the marker. Their columns are offsets from the
// start of the comment.
func (m *marker) warnings(known *Vocabulary, all []*marker, files []*ast.File) []scaffold.Warning {
	start := m.start()
	if isExample(m.comment.Text[:start]) {
		return nil
	}
	quoted := m.singleQuotes()
	switch {
	case m.bare:
		return []scaffold.Warning{{Column: start, Rule: ruleIgnored, Message: m.name[1:] + " needs a plus sign to be a marker; write " + m.name}}
	case m.scopes == 0:
		near, suspect := known.suspect(m.name)
		if !suspect {
			return nil
		}
		msg := m.name + " is not a marker of controller-gen, which ignores it"
		if near != "" {
			msg += "; did you mean +" + near + "?"
		}
		return []scaffold.Warning{{Column: start, Rule: ruleUnknown, Message: msg}}
	case !m.used:
		if !ours(m.name) {
			return nil
		}
		return []scaffold.Warning{{Column: start, Rule: ruleIgnored,
			Message: fmt.Sprintf("%s has no effect here: it describes %s, but %s", m.name, describes(m.scopes), m.place())}}
	case quoted != "" && ours(m.name):
		return []scaffold.Warning{{Column: start, Rule: ruleQuotes,
			Message: fmt.Sprintf("%s: the single quotes of %s are part of the value: use double quotes or backquotes", m.name, quoted)}}
	case m.name == "+"+rbac.RuleDefinition.Name:
		return m.permission(all, files)
	case m.name == "+kubebuilder:default", m.name == "+default":
		return m.hiddenZero(all)
	case m.name == "+"+webhook.ConfigDefinition.Name:
		return m.webhook(all, files)
	}
	if why := m.onType(files); why != "" {
		return []scaffold.Warning{{Column: start, Rule: ruleIgnored, Message: m.name + " has no effect here: " + why}}
	}
	return nil
}

var singleQuoted = lazyregexp.New(`[A-Za-z]=('[^']*')(?:[,;]|$)`)

// singleQuotes returns the first value in single quotes, or "".
func (m *marker) singleQuotes() string {
	if found := singleQuoted().FindStringSubmatch(quotedText().ReplaceAllString(m.text, "")); found != nil {
		return found[1]
	}
	return ""
}

// isExample reports whether a marker is an example in a doc comment: the text before its
// plus sign makes the line part of a code block.
func isExample(before string) bool {
	indent := strings.TrimPrefix(before, "//")
	return strings.Contains(indent, "\t") || len(indent) >= 3
}

// ours reports whether only generators read a marker. Other tools also read the other
// markers (+optional, +listType, +k8s:...), at positions that controller-gen ignores.
func ours(name string) bool {
	return strings.HasPrefix(name, "+kubebuilder:") || name == "+groupName" || name == "+versionName"
}

func describes(scopes int) string {
	var parts []string
	for t, word := range map[markers.TargetType]string{
		markers.DescribesPackage: "a package", markers.DescribesType: "a type", markers.DescribesField: "a field",
	} {
		if scopes&(1<<t) != 0 {
			parts = append(parts, word)
		}
	}
	slices.SortFunc(parts, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return strings.Join(parts, " or ")
}

var versionLike = lazyregexp.New(`^v[0-9]+((alpha|beta)[0-9]+)?$`)

// groupVersions returns warnings about groups such as apps/v1 or v1. An API group
// contains no version, so these rules match no request.
func (m *marker) groupVersions(groups []string, rule string) (all []scaffold.Warning) {
	for _, g := range groups {
		group, version, slash := strings.Cut(g, "/")
		if !slash {
			group, version = "", g
		}
		if !versionLike().MatchString(version) {
			continue
		}
		right := strconv.Quote(group)
		if group != "" {
			right = group
		}
		all = append(all, scaffold.Warning{
			Column: m.offset("groups", g), Rule: rule,
			Message: fmt.Sprintf("the API group %q contains a version and matches nothing; write groups=%s", g, right),
		})
	}
	return all
}

// offset returns the position of a value of an argument in the comment.
func (m *marker) offset(key, value string) int {
	if i := strings.Index(m.comment.Text, key+"="); i >= 0 {
		if j := strings.Index(m.comment.Text[i+len(key):], value); j >= 0 {
			return i + len(key) + j
		}
	}
	return m.start()
}

// start returns the position of the marker in the comment.
func (m *marker) start() int {
	if m.bare {
		return strings.Index(m.comment.Text, m.text[1:])
	}
	return strings.Index(m.comment.Text, "+")
}
