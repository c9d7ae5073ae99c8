// Package csv makes a ClusterServiceVersion and the other manifests of a bundle from the
// objects that install an operator. Each object ends up in the ClusterServiceVersion or in
// a file of its own, is left out for a reason, or is refused. The functions are pure: data
// in, data out.
//
// Objects stay maps. The types of github.com/operator-framework/api would lose fields that
// they do not know, and print empty ones.
package csv

import (
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/descriptors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// Object is an input of Generate.
type Object struct {
	*unstructured.Unstructured
	File string // where it is from, or empty
}

// Options are the values that no object has.
type Options struct {
	Package string
	Version string         // semantic version without "v"
	Base    map[string]any // the ClusterServiceVersion with metadata, if no object is one
	// BaseFile names the file of Base in messages.
	BaseFile string

	Description string                   // Markdown; replaces the base's
	Icon        *Icon                    // replaces the base's
	ListedAt    func(file string) string // the line of a kustomization that adds a file of objects, or ""

	// Replaces, Skips and SkipRange say what is upgraded to this version, unless the base does.
	Replaces  string
	Skips     []string
	SkipRange string

	// Digests has references by digest of images. Containers, variables and related images get
	// them, and all images become related images. nil: images stay.
	Digests map[string]string

	// Annotations are added unless the base has them.
	Annotations map[string]string
	// ExtraServiceAccounts run pods that are not in a Deployment of the manifests.
	ExtraServiceAccounts []string
	// RolesFromHooks says that the roles are generated from hooks, which fixes name then.
	RolesFromHooks bool
	// Markers describe owned kinds, as Go types do.
	Markers map[schema.GroupVersionKind]*descriptors.Owned

	Previous  []byte // the ClusterServiceVersion that exists, or nil
	CreatedAt string // the time now, in RFC 3339
}

// Icon is an image for the pages of catalogs.
type Icon struct {
	MediaType string
	Data      []byte
}

// Place says where an object of the input ended up.
type Place string

// The places.
const (
	inCSV   Place = "csv"
	inFile  Place = "file"
	leftOut Place = "left out"
)

// Placement is where one object of the input ended up.
type Placement struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Source    string `json:"source,omitempty"` // the file that the object is from
	Place     Place  `json:"place"`
	Reason    string `json:"reason,omitempty"` // of an object that is left out
}

// Warning is what the user should know about an object in a file.
type Warning struct {
	File    string
	Rule    string
	Message string
}

// Result is a bundle without its metadata.
type Result struct {
	Manifests map[string]map[string]any // by file name
	CSV       string                    // the name of its file among them
	Images    []string                  // of containers, variables and related images, sorted
	Scorecard map[string]any            // the configuration of its tests, or nil
	Objects   []Placement               // of each input, in order
	Warnings  []Warning
}

// Generate makes the manifests of a bundle. The error names every object that a bundle
// cannot have, and what to do about it.
func Generate(objects []Object, o Options) (*Result, error) {
	g := &generator{o: o, result: &Result{Manifests: map[string]map[string]any{}}, dropped: map[string]string{}}
	if yaml.Unmarshal(o.Previous, &g.previous) != nil {
		g.previous = nil // it is replaced
	}
	g.collect(objects)
	g.startFromBase()
	g.deployments()
	g.webhooks()
	g.certificates()
	g.permissions()
	g.customResources()
	g.files()
	g.metadata()
	if err := g.fault(); err != nil {
		return nil, err
	}
	g.result.CSV = bundle.CSVFile(o.Package)
	g.result.Manifests[g.result.CSV] = g.csv
	for _, in := range g.objects {
		g.result.Objects = append(g.result.Objects, Placement{
			Kind: in.GetKind(), Namespace: in.GetNamespace(), Name: in.GetName(), Source: in.File, Place: in.place, Reason: in.reason,
		})
	}
	return g.result, nil
}

// object is an object of the input, with its place in the output.
type object struct {
	Object
	place  Place // empty until decided
	reason string
}

// String names the object in messages.
func (o *object) String() string { return o.GetKind() + " " + o.GetName() }

func (o *object) group() string { return o.GroupVersionKind().Group }

func (o *object) inCSV() { o.place = inCSV }

func (o *object) leaveOut(reason string) { o.place, o.reason = leftOut, reason }

// generator holds the state of Generate.
type generator struct {
	o        Options
	result   *Result
	objects  []*object
	csv      map[string]any
	previous map[string]any // the ClusterServiceVersion that exists
	problems []problem

	namespace  string // of the Deployments
	namespaced bool   // the operator watches some namespaces only
	workloads  []*workload
	served     []*webhook        // webhooks of the ClusterServiceVersion
	dropped    map[string]string // names of Secrets that the bundle does not have, and why
}

// collect copies the objects, without repetitions.
func (g *generator) collect(objects []Object) {
	seen := map[string]*object{}
	for _, in := range objects {
		o := &object{Object: Object{in.DeepCopy(), in.File}}
		key := o.group() + "/" + o.GetKind() + "/" + o.GetNamespace() + "/" + o.GetName()
		if before := seen[key]; before != nil {
			if !equal(before.Object.Object, o.Object.Object) {
				g.refuse(o, "remove one of them", "the manifests have %s twice, with different content", o)
			}
			continue
		}
		seen[key] = o
		g.objects = append(g.objects, o)
	}
}

// of returns the objects of a kind that are not decided, in order.
func (g *generator) of(group string, kinds ...string) []*object {
	var list []*object
	for _, o := range g.objects {
		if o.place == "" && o.group() == group && slices.Contains(kinds, o.GetKind()) {
			list = append(list, o)
		}
	}
	return list
}

func (g *generator) warn(o *object, rule, message string) {
	w := Warning{Rule: rule, Message: message}
	if o != nil {
		w.File = o.File
	}
	if !slices.Contains(g.result.Warnings, w) {
		g.result.Warnings = append(g.result.Warnings, w)
	}
}

// inOperatorNamespace reports whether an object, or a reference with that namespace, is in
// the namespace of the operator.
func (g *generator) inOperatorNamespace(namespace string) bool {
	return namespace == "" || namespace == g.namespace
}

// sorted returns the keys of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// list joins names for a message.
func list(names []string) string { return strings.Join(names, ", ") }
