package golang

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/golang/internal/convert"
	"github.com/operon-dev/operon/plugins/golang/internal/header"
	"github.com/operon-dev/operon/plugins/golang/internal/libraries"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
	"github.com/operon-dev/operon/plugins/golang/internal/suites"
)

// conversionValues are the values for the templates of a conversion.
type conversionValues struct {
	libraries.Values
	Project *project.Config
	Header  string
	Package string // name of the file's package

	Kind, Lower     string
	Hub, Spoke      string // versions
	HubUpper        string // Hub with an upper-case first letter
	HubPath         string // import path of the hub's package
	HubName         string // name of the hub's package in files of the spoke
	Dir             string // folder of the spoke's package
	Group, CRD      string
	SamplesBefore   string         // the path of a sample, up to the version in it
	SamplesAfter    string         // the rest of the path, after the version
	Fmt, Conversion convert.Import // imports of the spoke's conversion
	Convert         convert.Code
}

// planConversion plans the conversion between the hub, which is the event's resource, and its
// spokes: methods of their types, tests that convert random objects in both directions, and a
// spec in which the API server converts.
func planConversion(e plugin.Event, suite suites.Suite, library libraries.Values, p *scaffold.Plan) error {
	c, hub := e.Project, *e.Resource
	headerText, err := header.Read(e, p)
	if err != nil {
		return err
	}
	spokes, err := conversionSpokes(c, hub)
	if err != nil {
		return err
	}
	if err := storeOneVersion(c, hub, p); err != nil {
		return err
	}
	v := conversionValues{
		Values:  library,
		Project: c, Header: headerText, Package: hub.Version,
		Kind: hub.Kind, Lower: hub.Lower(), Hub: hub.Version, HubUpper: convert.UpperFirst(hub.Version), HubPath: c.APIPath(hub),
		Group: hub.QualifiedGroup(), CRD: hub.CRDName(),
	}
	v.SamplesBefore, v.SamplesAfter = samples(c, hub)
	for _, spoke := range spokes {
		if err := planSpoke(c, hub, spoke, v, p); err != nil {
			return err
		}
	}
	if err := planHub(c, hub, v, p); err != nil {
		return err
	}
	warnUnconverted(c, hub, p)
	vars := map[string]string{"webhookdir": c.WebhookDir(hub), "kind": hub.Lower()}
	if suite.File == "" {
		return nil
	}
	return tree(p, "conversion/spec", vars, v, conversionPart(hub, p).seedOnce(p))
}

// conversionSpokes returns the versions that convert to the hub.
func conversionSpokes(c *project.Config, hub project.Resource) ([]project.Resource, error) {
	var spokes []project.Resource
	for _, version := range hub.Webhooks.Spoke {
		i := slices.IndexFunc(c.Resources, func(r project.Resource) bool { return r.SameKind(hub) && r.Version == version })
		if i < 0 {
			return nil, fault.Usage("create it first: "+project.CreateVersion(hub, version),
				"kind %s has no version %s to be a spoke", hub.Kind, version)
		}
		spokes = append(spokes, c.Resources[i])
	}
	return spokes, nil
}

// warnUnconverted warns about versions of the kind without a conversion to the hub, if other
// versions have one. The manager would not start.
func warnUnconverted(c *project.Config, kind project.Resource, p *scaffold.Plan) {
	i := slices.IndexFunc(c.Resources, func(r project.Resource) bool { return r.SameKind(kind) && r.Webhooks != nil && r.Webhooks.Conversion })
	if i < 0 {
		return
	}
	hub := c.Resources[i]
	for _, r := range c.Resources {
		if r.SameKind(hub) && r.API != nil && r.Version != hub.Version && !slices.Contains(hub.Webhooks.Spoke, r.Version) {
			command := "operon create webhook --version " + hub.Version + " --kind " + hub.Kind + " --conversion --spoke " + r.Version
			if hub.Group != "" {
				command += " --group " + hub.Group
			}
			p.Warn(scaffold.Warning{File: c.TypesFile(r), Rule: "conversion",
				Message: "version " + r.Version + " of " + hub.Kind + " is not converted, so the manager will not start: " + command})
		}
	}
}

// conversionPart returns the part for the conversion of a kind. In a replay, PROJECT
// has recorded it before.
func conversionPart(hub project.Resource, p *scaffold.Plan) part {
	return part{name: hub.Kind, recorded: source.IsReplay(p), hint: renameHint}
}

// planHub marks the type of the hub.
func planHub(c *project.Config, hub project.Resource, v conversionValues, p *scaffold.Plan) error {
	name := conversionFile(c, hub)
	pkg, err := convert.ReadPackage(c.APIDir(hub), c.APIPath(hub), hub.Kind, name, p)
	if err != nil || pkg.Methods[hub.Kind+".Hub"] {
		return err
	}
	vars := map[string]string{"apidir": c.APIDir(hub), "kind": hub.Lower()}
	v.Package = pkg.Name
	return tree(p, "conversion/hub", vars, v, conversionPart(hub, p).seedOnce(p))
}

// goNames are the predeclared Go names that a conversion uses.
var goNames = []string{"error", "len", "make", "new", "nil"}

// planSpoke plans the conversion of one spoke, and its test.
//
// operon generates the conversion once, from the current fields of both versions. Then
// it belongs to the user, who decides how to convert fields that are added later. A
// repeat, a replay or a newer operon would generate something else from changed types,
// so none of them plans an existing file again, and its base stays. Only --force
// replaces the file. A deleted file is generated again.
func planSpoke(c *project.Config, hub, spoke project.Resource, v conversionValues, p *scaffold.Plan) error {
	name := conversionFile(c, spoke)
	own, err := convert.ReadPackage(c.APIDir(spoke), c.APIPath(spoke), hub.Kind, name, p)
	if err != nil {
		return err
	}
	v.Package, v.Spoke, v.Dir, v.HubName = own.Name, spoke.Version, c.APIDir(spoke), own.Free(hub.ImportAlias())
	vars := map[string]string{"apidir": c.APIDir(spoke), "kind": hub.Lower()}
	exists := own.Methods[hub.Kind+".ConvertTo"] || own.Methods[hub.Kind+".ConvertFrom"]
	if !exists && (p.Forced() || !p.Exists(name)) {
		theirs, err := convert.ReadPackage(c.APIDir(hub), c.APIPath(hub), hub.Kind, conversionFile(c, hub), p)
		if err != nil {
			return err
		}
		for _, name := range goNames {
			if own.Declared[name] {
				return fault.Usage("rename it", "%s declares %s, but the conversion needs the predeclared identifier", c.APIDir(spoke), name)
			}
		}
		if theirs.Imports[own.Path] {
			return fault.Usage("make "+spoke.Version+" the hub: --version "+spoke.Version+" --spoke "+hub.Version,
				"%s imports %s: the conversion would cause an import cycle", theirs.Path, own.Path)
		}
		v = v.withConversion(own, theirs)
		if err := tree(p, "conversion/spoke", vars, v, conversionPart(hub, p).seed(p)); err != nil {
			return err
		}
		if len(v.Convert.Gaps) > 0 {
			p.Warn(scaffold.Warning{File: name, Rule: "conversion", Message: fmt.Sprintf("%s and %s differ in %s: convert these fields at the comments, and run the test",
				spoke.Version, hub.Version, strings.Join(v.Convert.Gaps, ", "))})
		}
	}
	return tree(p, "conversion/roundtrip", vars, v, conversionPart(hub, p).seedOnce(p))
}

// samples returns the parts of the sample paths of a kind before and after the version.
func samples(c *project.Config, r project.Resource) (before, after string) {
	const version = "\x00"
	r.Version = version
	before, after, _ = strings.Cut(c.SamplePath(r), version)
	return before, after
}

// withConversion returns v with the values for the conversion of a spoke.
func (v conversionValues) withConversion(spoke, hub *convert.Package) conversionValues {
	v.Fmt = convert.Import{Local: spoke.Free("fmt"), Path: "fmt"}
	v.Conversion = convert.Import{Local: spoke.Free("conversion"), Path: source.ControllerRuntime + "/pkg/conversion"}
	v.Convert = convert.Kind(v.Kind, spoke, hub, v.HubName, v.Spoke, v.Hub)
	return v
}

func conversionFile(c *project.Config, r project.Resource) string {
	return c.APIDir(r) + "/" + r.Lower() + "_conversion.go"
}

// seedOnce is a sink for files that belong to one kind and version. Only a replay
// changes an existing file.
func (part part) seedOnce(p *scaffold.Plan) render.Sink {
	seed := part.seed(p)
	return func(name string, mode fs.FileMode, content []byte) error {
		if p.Exists(name) && !p.Forced() && (!source.IsReplay(p) || !p.HasBase(name)) {
			return nil
		}
		return seed(name, mode, content)
	}
}

// storeOneVersion ensures that exactly one version of the kind is the storage version. If
// another tool marked none, the hub becomes the storage version.
func storeOneVersion(c *project.Config, hub project.Resource, p *scaffold.Plan) error {
	var marked []string
	at := ""
	for _, r := range c.Resources {
		if !r.SameKind(hub) || r.API == nil {
			continue
		}
		pkg, err := convert.ReadPackage(c.APIDir(r), c.APIPath(r), r.Kind, "", p)
		if err != nil {
			return err
		}
		name := pkg.Types[r.Kind].File
		src, err := p.Read(name)
		if err != nil {
			return err
		}
		if bytes.Contains(src, []byte(storageMarker)) {
			marked = append(marked, r.Version)
		}
		if r.Version == hub.Version {
			at = name
		}
	}
	if len(marked) == 0 {
		return fault.In("edit "+at, markStorage(at, hub.Kind, p))
	}
	if len(marked) > 1 {
		p.Warn(scaffold.Warning{File: at, Rule: "storage-version", Message: fmt.Sprintf("// %s is in the files of %s versions %s: only one version can be the storage version",
			storageMarker, hub.Kind, strings.Join(marked, ", "))})
	}
	return nil
}
