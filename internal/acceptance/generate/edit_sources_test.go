//go:build unix

package generate

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// operations are the random edits. Each changes the sources, or other files, and returns a
// description. It returns "" when no source has a place for it.
var operations = []struct {
	name string
	do   func(*editedProject) string
}{
	{"add field", (*editedProject).addField}, {"add field", (*editedProject).addField},
	{"remove field", (*editedProject).removeField},
	{"rename field", (*editedProject).renameField},
	{"tag", (*editedProject).retag},
	{"retype", (*editedProject).retype}, {"retype", (*editedProject).retype},
	{"embed", (*editedProject).embed},
	{"mark", (*editedProject).mark}, {"mark", (*editedProject).mark}, {"mark", (*editedProject).mark},
	{"unmark", (*editedProject).unmark},
	{"comment", (*editedProject).comment},
	{"space", (*editedProject).space},
	{"declare", (*editedProject).declare}, {"declare", (*editedProject).declare},
	{"rename type", (*editedProject).renameType},
	{"move type", (*editedProject).moveType},
	{"break", (*editedProject).breakSource},
	{"import", (*editedProject).addImport},
	{"rename import", (*editedProject).renameImport},
	{"constrain", (*editedProject).constrain},
	{"rename file", (*editedProject).renameFile},
	{"delete file", (*editedProject).deleteFile},
	{"delete package", (*editedProject).deletePackage},
	{"restore", (*editedProject).restore}, {"restore", (*editedProject).restore},
	{"new package", (*editedProject).newPackage},
	{"modules", (*editedProject).modules}, {"modules", (*editedProject).modules},
	{"nest", (*editedProject).nest},
	{"environment", (*editedProject).environment},
	{"arguments", (*editedProject).changeArguments}, {"arguments", (*editedProject).changeArguments},
	{"header", (*editedProject).header},
	{"plurals", (*editedProject).plurals},
	{"touch", (*editedProject).touch},
	{"damage output", (*editedProject).damageOutput}, {"damage output", (*editedProject).damageOutput},
	{"hide", (*editedProject).hide}, {"hide", (*editedProject).hide}, {"hide", (*editedProject).hide},
	{"race", (*editedProject).race}, {"race", (*editedProject).race}, {"race", (*editedProject).race},
}

// fieldTypes are types of fields with the package to import. Some cannot be part of a CRD.
var fieldTypes = []struct{ expr, imported string }{
	{"string", ""}, {"*bool", ""}, {"[]int64", ""}, {"map[string]string", ""}, {"[]byte", ""}, {"float64", ""}, {"any", ""},
	{"[][]string", ""}, {"map[string][]int32", ""}, {"struct{ X string `json:\"x\"` }", ""},
	{"corev1.NodeSpec", "k8s.io/api/core/v1"}, {"*corev1.Toleration", "k8s.io/api/core/v1"}, {"[]corev1.EnvVar", "k8s.io/api/core/v1"},
	{"corev1.Protocol", "k8s.io/api/core/v1"}, {"corev1.ResourceList", "k8s.io/api/core/v1"}, {"corev1.PodSecurityContext", "k8s.io/api/core/v1"},
	{"appsv1.DeploymentStrategy", "k8s.io/api/apps/v1"}, {"batchv1.CompletionMode", "k8s.io/api/batch/v1"},
	{"autoscalingv2.MetricTarget", "k8s.io/api/autoscaling/v2"}, {"*autoscalingv2.HorizontalPodAutoscalerBehavior", "k8s.io/api/autoscaling/v2"},
	{"[]networkingv1.NetworkPolicyPort", "k8s.io/api/networking/v1"}, {"rbacv1.PolicyRule", "k8s.io/api/rbac/v1"},
	{"resource.Quantity", "k8s.io/apimachinery/pkg/api/resource"}, {"map[string]resource.Quantity", "k8s.io/apimachinery/pkg/api/resource"},
	{"intstr.IntOrString", "k8s.io/apimachinery/pkg/util/intstr"}, {"*intstr.Type", "k8s.io/apimachinery/pkg/util/intstr"},
	{"metav1.Time", "k8s.io/apimachinery/pkg/apis/meta/v1"}, {"*metav1.MicroTime", "k8s.io/apimachinery/pkg/apis/meta/v1"},
	{"metav1.Duration", "k8s.io/apimachinery/pkg/apis/meta/v1"}, {"*metav1.LabelSelector", "k8s.io/apimachinery/pkg/apis/meta/v1"},
	{"metav1.ObjectMeta", "k8s.io/apimachinery/pkg/apis/meta/v1"}, {"[]metav1.OwnerReference", "k8s.io/apimachinery/pkg/apis/meta/v1"},
	{"runtime.RawExtension", "k8s.io/apimachinery/pkg/runtime"}, {"*runtime.Object", "k8s.io/apimachinery/pkg/runtime"},
	{"types.UID", "k8s.io/apimachinery/pkg/types"}, {"types.NamespacedName", "k8s.io/apimachinery/pkg/types"},
	{"*apiextensionsv1.JSON", "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"},
	{"apiextensionsv1.JSONSchemaProps", "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"},
	{"time.Duration", "time"}, {"url.URL", "net/url"},
	{"base.Named", repo + "/internal/base"}, {"[]base.Metre", repo + "/internal/base"}, {"base.Pair[string]", repo + "/internal/base"},
	{"*base.Pair[base.Metre]", repo + "/internal/base"}, {"shared.Crane", repo + "/internal/shared"}, {"shared.Gear", repo + "/internal/shared"},
	{"map[string]shared.Crane", repo + "/internal/shared"}, {"*shared.Crane", repo + "/internal/shared"},
	{"shipv1.Mood", repo + "/api/ship/v1"}, {"*shipv1.FrigateSpec", repo + "/api/ship/v1"}, {"rope.Line", "example.org/local/rope"},
	{"Nothing", ""}, {"nobody.Knows", ""},
}

const repo = "example.org/harbor"

// markerLines are markers for types, fields and packages. They are put anywhere, even where
// they are not allowed.
var markerLines = []string{
	"+optional", "+required", "+nullable", "+kubebuilder:validation:Optional", "+kubebuilder:validation:Required",
	"+kubebuilder:validation:MinLength=2", "+kubebuilder:validation:MaxItems=5", "+kubebuilder:validation:Pattern=`^[a-z]+$`",
	"+kubebuilder:validation:Minimum=3", "+kubebuilder:validation:Minimum=abc", "+kubebuilder:validation:Enum=a;b;c", "+kubebuilder:validation:Type=string",
	"+kubebuilder:validation:Format=date-time", "+kubebuilder:validation:XValidation:rule=\"self != ''\",message=\"no\"", "+kubebuilder:validation:Schemaless",
	"+kubebuilder:validation:items:MaxLength=9", "+kubebuilder:validation:EmbeddedResource", "+kubebuilder:pruning:PreserveUnknownFields",
	"+kubebuilder:default=1", "+kubebuilder:default={}", "+kubebuilder:example=x", "+kubebuilder:title=Title", "+k8s:enum", "+k8s:maxLength=3", "+default=\"x\"",
	"+listType=map", "+listMapKey=name", "+structType=atomic", "+mapType=granular",
	"+kubebuilder:object:root=true", "+kubebuilder:object:generate=true", "+kubebuilder:object:generate=false", "+k8s:deepcopy-gen=false",
	"+kubebuilder:subresource:status", "+kubebuilder:subresource:scale:specpath=.spec.x,statuspath=.status.x", "+kubebuilder:storageversion", "+kubebuilder:unservedversion",
	"+kubebuilder:deprecatedversion:warning=\"old\"", "+kubebuilder:resource:scope=Cluster,categories=all", "+kubebuilder:resource:path=things,bogus=1", "+kubebuilder:skipversion",
	"+kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`", "+kubebuilder:printcolumn:name=Wide,type=integer,JSONPath=`.spec.guns`,priority=1",
	"+kubebuilder:metadata:labels=a=b", "+kubebuilder:selectablefield:JSONPath=`.spec.mood`", "+kubebuilder:skip", "+groupName=other.example.org", "+versionName=v9",
	"+kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list", "+kubebuilder:rbac:groups=batch,resources=jobs,verbs=create,namespace=yard", "+kubebuilder:rbac:urls=/metrics,verbs=get",
	"+kubebuilder:rbac:groups=\"\",resources=pods/exec,verbs=create,roleName=other", "+kubebuilder:rbac:grups=apps,resources=x,verbs=get",
	"+kubebuilder:webhook:path=/validate-x,mutating=false,failurePolicy=ignore,sideEffects=None,groups=ship.example.org,resources=frigates,verbs=delete,versions=v2,name=vx.kb.io,admissionReviewVersions=v1",
	"+kubebuilder:webhook:path=/bad,mutating=true,failurePolicy=fail,groups=a,resources=b,verbs=create,versions=v1,name=bad.kb.io,admissionReviewVersions=v1",
	"+kubebuilder:unknown:thing=1", "+kubebuilder", "+custom-tool:x",
}

// names returns the paths of sources that meet a condition, sorted.
func (e *editedProject) names(will func(name string) bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(e.files)), func(name string) bool { return !will(name) })
}

func isGo(name string) bool { return strings.HasSuffix(name, ".go") }

// find returns a random Go file that matches an expression, and the position of one of the
// matches. name is "" when no file matches.
func (e *editedProject) find(line *regexp.Regexp) (name string, at []int) {
	names := e.names(func(name string) bool { return isGo(name) && line.MatchString(e.files[name]) })
	if len(names) == 0 {
		return "", nil
	}
	name = names[e.IntN(len(names))]
	places := line.FindAllStringSubmatchIndex(e.files[name], -1)
	return name, places[e.IntN(len(places))]
}

func (e *editedProject) goFile() string {
	name, _ := e.find(packageLine)
	return name
}

// splice replaces the bytes from one offset to another.
func (e *editedProject) splice(name string, from, to int, text string) {
	e.files[name] = e.files[name][:from] + text + e.files[name][to:]
}

var (
	packageLine = regexp.MustCompile(`(?m)^package \w+$`)
	structLine  = regexp.MustCompile(`(?m)^type \w+ struct \{\n`)
	fieldLine   = regexp.MustCompile("(?m)^\t(\\w+)[ \t]+(\\S+)[ \t]+`json:\"(\\w+)((?:,\\w+)*)\"`\n")
	markerLine  = regexp.MustCompile(`(?m)^\t*// ?\+.*\n`)
	commentLine = regexp.MustCompile(`(?m)^\t*// [A-Za-z].*$`)
	importLine  = regexp.MustCompile(`(?m)^(?:import )?\t?((?:[\w.]+ )?)"([\w./-]+)"\n`)
	typeDecl    = regexp.MustCompile(`(?ms)(?:^//[^\n]*\n)*^type (\w+)[ \[].*?\n(?:\}\n|\n)`)
	declaration = regexp.MustCompile(`(?m)^(?:\t\w+ +\S+ +` + "`" + `json|type |func |const |package ).*\n`)
)

// word returns a random name.
func (e *editedProject) word() string { return fmt.Sprintf("%c%d", 'A'+e.IntN(26), e.IntN(10000)) }

// needs adds the import of the package that an expression uses.
func (e *editedProject) needs(name, expr, imported string) {
	if imported == "" {
		return
	}
	local := regexp.MustCompile(`(\w+)\.`).FindStringSubmatch(expr)[1]
	spec := local + " \"" + imported + "\"\n"
	if strings.Contains(e.files[name], spec) || path.Base(imported) == local && strings.Contains(e.files[name], "\""+imported+"\"\n") {
		return
	}
	if at := packageLine.FindStringIndex(e.files[name]); at != nil {
		e.splice(name, at[1], at[1], "\n\nimport "+spec)
	}
}

func (e *editedProject) addField() string {
	name, at := e.find(structLine)
	if name == "" {
		return ""
	}
	t := fieldTypes[e.IntN(len(fieldTypes))]
	field := e.word()
	e.splice(name, at[1], at[1], fmt.Sprintf("\t// %s is new.\n\t%s %s `json:\"%s,omitempty\"`\n", field, field, t.expr, strings.ToLower(field)))
	e.needs(name, t.expr, t.imported)
	return name + " " + t.expr
}

func (e *editedProject) removeField() string {
	name, at := e.find(fieldLine)
	if name == "" {
		return ""
	}
	field := e.files[name][at[2]:at[3]]
	e.splice(name, at[0], at[1], "")
	return name + " " + field
}

func (e *editedProject) renameField() string {
	name, at := e.find(fieldLine)
	if name == "" {
		return ""
	}
	e.splice(name, at[2], at[3], e.word())
	return name
}

func (e *editedProject) retag() string {
	name, at := e.find(fieldLine)
	if name == "" {
		return ""
	}
	switch e.IntN(6) {
	case 0:
		e.splice(name, at[8], at[9], ",omitzero")
	case 1:
		e.splice(name, at[8], at[9], "")
	case 2:
		e.splice(name, at[6], at[9], "-")
	case 3:
		e.splice(name, at[6], at[9], ",inline")
	case 4:
		e.splice(name, at[5], at[1], "\n") // none
	default:
		e.splice(name, at[6], at[7], strings.ToLower(e.word()))
	}
	return name
}

func (e *editedProject) retype() string {
	name, at := e.find(fieldLine)
	if name == "" {
		return ""
	}
	t := fieldTypes[e.IntN(len(fieldTypes))]
	e.splice(name, at[4], at[5], t.expr)
	e.needs(name, t.expr, t.imported)
	return name + " " + t.expr
}

func (e *editedProject) embed() string {
	name, at := e.find(structLine)
	if name == "" {
		return ""
	}
	tag := []string{"`json:\",inline\"`", "`json:\"part\"`", ""}[e.IntN(3)]
	expr, imported := "base.Named", repo+"/internal/base"
	if e.IntN(2) == 0 {
		expr, imported = "rope.Line", "example.org/local/rope"
	}
	e.splice(name, at[1], at[1], "\t"+expr+" "+tag+"\n")
	e.needs(name, expr, imported)
	return name + " " + expr
}

// mark adds a marker before or after a declaration.
func (e *editedProject) mark() string {
	name, at := e.find(declaration)
	if name == "" {
		return ""
	}
	marker := markerLines[e.IntN(len(markerLines))]
	switch e.IntN(6) {
	case 0:
		e.splice(name, at[0], at[0], "// "+marker+"\n\n")
	case 1:
		e.splice(name, at[1], at[1], "// "+marker+"\n")
	default:
		indent := ""
		if e.files[name][at[0]] == '\t' {
			indent = "\t"
		}
		e.splice(name, at[0], at[0], indent+"// "+marker+"\n")
	}
	return name + " " + marker
}

func (e *editedProject) unmark() string {
	name, at := e.find(markerLine)
	if name == "" {
		return ""
	}
	marker := strings.TrimSpace(e.files[name][at[0]:at[1]])
	e.splice(name, at[0], at[1], "")
	return name + " " + marker
}

func (e *editedProject) comment() string {
	name, at := e.find(commentLine)
	if name == "" {
		return ""
	}
	more := []string{" And more.", " It's \"quoted\": yes.", " ünï ☃", "\n// Another line.", " # no comment", " {{ x }}", "\n//\n// A paragraph.", "\n// TODO: later", "  spaced  ", "\n// - a\n//   - b", " \x7f"}
	e.splice(name, at[1], at[1], more[e.IntN(len(more))])
	return name
}

func (e *editedProject) space() string {
	name := e.goFile()
	if name == "" {
		return ""
	}
	src := e.files[name]
	switch e.IntN(4) {
	case 0:
		src += "\n"
	case 1:
		src = strings.ReplaceAll(src, "\n\n", "\n\n\n")
	case 2:
		src = strings.ReplaceAll(src, "\n", "\r\n")
	default:
		src = strings.Replace(src, " struct {", "  struct  {", 1)
	}
	e.files[name] = src
	return name
}
