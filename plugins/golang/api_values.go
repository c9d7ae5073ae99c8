package golang

import (
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/controllergen"
	"github.com/operon-dev/operon/plugins/golang/internal/groupversion"
	"github.com/operon-dev/operon/plugins/golang/internal/header"
	"github.com/operon-dev/operon/plugins/golang/internal/libraries"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// apiValues are the values for the templates of an API and its controller.
type apiValues struct {
	libraries.Values
	Project *project.Config
	Header  string

	outputs controllergen.Outputs

	Kind, Version, Plural string
	Group                 string // with the domain
	Article               string // "a" or "an"
	ResourceMarker        string // arguments of +kubebuilder:resource, or ""
	typeFields

	TypesPackage string            // the package of the types
	Form         groupversion.Form // how the package registers its types

	Alias, APIPath string         // how the types are imported
	Registrar      string         // what their package has to add them to a scheme; see groupversion.Registrar
	Var            string         // a variable that holds an object of the kind
	Private        string         // prefix of unexported names in the controller's tests
	Package        string         // of the controller
	Reconciler     string         // the controller's type
	Title          string         // the controller in prose: the kind, or its own name
	Condition      string         // the condition that the controller reports
	ControllerName string         // in the manager
	RBACNamespace  string         // "namespace=<name>," in markers of a namespaced manager
	ControllerFile string         // the controller's file name, without _controller.go
	StatusFile     string         // the file name of its status reporting, without .go
	Reports        bool           // it reports in the status: the type has conditions
	CRDPath        string         // elements of the CRDs' path from the controller's folder, as Go strings
	Sample         string         // path of the sample from the root
	Operand        *operandValues // what the controller deploys, or nil
	Apply          *applyValues   // how the controller applies its status, or nil
	KindCondition  string         // the condition in the columns of the kind
	EventPackage   string         // see eventPackage
	Namespaced     bool           // the kind is namespaced
	NoFakeClient   bool           // the fake client cannot store objects of the kind
	Unregistered   bool           // client-go's scheme does not contain the types
	Unwired        bool           // existing code is not edited
	CRDFile        string         // of external types: elements of its path from the controller's folder, as Go strings
}

// notFaked are the kinds that controller-runtime's fake client ignores in every API group,
// because Kubernetes has types of these names that are not resources
// (k8s.io/apimachinery/pkg/api/meta/testrestmapper).
var notFaked = []string{
	"ListOptions", "DeleteOptions", "Status", "PodLogOptions", "PodExecOptions", "PodAttachOptions",
	"PodPortForwardOptions", "PodProxyOptions", "NodeProxyOptions", "ServiceProxyOptions",
}

// valuesOf returns the values for the event's resource. forController adds those for a controller.
func valuesOf(e plugin.Event, library libraries.Values, p *scaffold.Plan) (apiValues, error) {
	c, r := e.Project, *e.Resource
	headerText, err := header.Read(e, p)
	if err != nil {
		return apiValues{}, err
	}
	pkg, err := source.PackageIn(c.ControllerDir(r), c.ControllerPackage(r), p)
	if err != nil {
		return apiValues{}, err
	}
	outputs := controllergen.OutputsOf(c, p)
	v := apiValues{
		outputs:        outputs,
		Values:         library,
		Package:        pkg,
		Project:        c,
		Header:         headerText,
		TypesPackage:   r.Version,
		Unwired:        !isWired(e),
		Kind:           r.Kind,
		Version:        r.Version,
		Plural:         r.PluralName(),
		Group:          r.QualifiedGroup(),
		Article:        r.Article(),
		Alias:          r.ImportAlias(),
		APIPath:        c.APIPath(r),
		Var:            r.VarName(),
		CRDPath:        joinArgs(c.ControllerDir(r), outputs.CRDs),
		Sample:         c.SamplePath(r),
		Namespaced:     c.IsNamespaced(r),
		NoFakeClient:   slices.Contains(notFaked, r.Kind),
		Unregistered:   !r.InClientScheme(),
		ResourceMarker: resourceMarker(r),
		EventPackage:   eventPackage(library.Has),
	}
	if r.External {
		v.CRDFile = joinArgs(c.ControllerDir(r), project.ExternalCRDPath(r))
	}
	if v.typeFields, err = fieldsOfTypes(c, r, p); err != nil {
		return v, err
	}
	if v.Operand, err = readOperand(c, r); err != nil {
		return v, err
	}
	if v.Apply, err = readApply(c, r, p); err != nil {
		return v, err
	}
	if v.KindCondition = "Ready"; v.Operand != nil {
		v.KindCondition = "Available"
	}
	if c.Namespaced && c.IsNamespaced(r) {
		v.RBACNamespace = "namespace=" + c.Namespace() + ","
	}
	return v, nil
}

// resourceMarker returns the arguments of the marker +kubebuilder:resource of r, or "".
func resourceMarker(r project.Resource) string {
	var marker []string
	if r.PathMarkerNeeded() || r.HasApplyConfigurations() {
		marker = append(marker, "path="+r.PluralName())
	}
	if r.API != nil && !r.API.Namespaced {
		marker = append(marker, "scope=Cluster")
	}
	return strings.Join(marker, ",")
}

// forController returns v with the values for the controller of r with a name. A
// controller that is not named after the kind has its own condition: otherwise two
// controllers would overwrite each other's condition Ready.
func (v apiValues) forController(c *project.Config, r project.Resource, controller string) apiValues {
	v.Reconciler, v.ControllerName = r.Reconciler(controller), c.ControllerName(r, controller)
	v.ControllerFile, v.StatusFile = project.ControllerFile(controller), statusFile(controller)
	v.Title, v.Private, v.Condition = r.Kind, r.Lower(), v.KindCondition
	if controller != r.Lower() {
		v.Operand = nil
		words := strings.TrimSuffix(v.Reconciler, "Reconciler")
		v.Title, v.Private, v.Condition = controller, strings.ToLower(words[:1])+words[1:], words+"Ready"
	}
	if v.Operand != nil && (v.Alias == "appsv1" || v.Alias == "corev1") { // these are other packages there
		v.Alias = "api" + v.Alias
	}
	return v
}

// joinArgs returns the path from a folder of the project to another path in it, as Go strings
// for filepath.Join.
func joinArgs(dir, to string) string {
	var words []string
	for range strings.Count(dir, "/") + 1 {
		words = append(words, `".."`)
	}
	for word := range strings.SplitSeq(to, "/") {
		words = append(words, strconv.Quote(word))
	}
	return strings.Join(words, ", ")
}
