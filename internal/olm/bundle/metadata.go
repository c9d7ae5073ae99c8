package bundle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
)

// The keys in annotations.yaml and the labels of the image that commands refer to.
const (
	prefix            = "operators.operatorframework.io."
	PackageKey        = prefix + "bundle.package.v1"
	ChannelsKey       = prefix + "bundle.channels.v1"
	DefaultChannelKey = prefix + "bundle.channel.default.v1"
	MediaTypeKey      = prefix + "bundle.mediatype.v1"
	ManifestsKey      = prefix + "bundle.manifests.v1"
	MetadataKey       = prefix + "bundle.metadata.v1"
	TestConfigKey     = prefix + "test.config.v1"

	testMediaTypeKey = prefix + "test.mediatype.v1"
)

// MediaType is the format of bundles with a ClusterServiceVersion.
const MediaType = "registry+v1"

// Metadata is what catalogs know about a bundle besides its manifests.
type Metadata struct {
	Package        string
	Channels       []string
	DefaultChannel string            // may be empty
	Scorecard      bool              // the bundle has tests
	Extra          map[string]string // further annotations
}

// annotations returns the annotations that operon manages. A key without value must not
// exist.
func (m Metadata) annotations() map[string]string {
	all := map[string]string{
		MediaTypeKey:      MediaType,
		ManifestsKey:      ManifestsDir + "/",
		MetadataKey:       MetadataDir + "/",
		PackageKey:        m.Package,
		ChannelsKey:       strings.Join(m.Channels, ","),
		DefaultChannelKey: m.DefaultChannel,
		testMediaTypeKey:  "",
		TestConfigKey:     "",
	}
	if m.Scorecard {
		all[testMediaTypeKey], all[TestConfigKey] = "scorecard+v1", ScorecardDir+"/"
	}
	maps.Copy(all, m.Extra)
	return all
}

// Unset returns the keys that must not exist.
func (m Metadata) Unset() []string {
	var keys []string
	for key, value := range m.annotations() {
		if value == "" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// order are the sections of a new file. Each has a comment and the keys that it starts with.
var order = []struct {
	comment  string
	prefixes []string
}{
	{"What the image has, and in which channels it is released.", []string{prefix + "bundle."}},
	{"How the operator was built.", []string{prefix + "metrics."}},
	{"The tests of operon scorecard.", []string{prefix + "test."}},
}

// sections calls f for each section with the keys that have a value, in order.
func sections(values map[string]string, f func(comment string, keys []string)) {
	for _, s := range order {
		var keys []string
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if values[key] != "" && slices.ContainsFunc(s.prefixes, func(p string) bool { return strings.HasPrefix(key, p) }) {
				keys = append(keys, key)
			}
		}
		if len(keys) > 0 {
			f(s.comment, keys)
		}
	}
}

// NewAnnotations returns the content of a new metadata/annotations.yaml.
func (m Metadata) NewAnnotations() []byte {
	values := m.annotations()
	var out strings.Builder
	out.WriteString("# operon bundle generate updates these lines, and keeps those that you add.\nannotations:\n")
	sections(values, func(comment string, keys []string) {
		out.WriteString("  # " + comment + "\n")
		for _, key := range keys {
			out.WriteString("  " + key + ": " + yamledit.Scalar(values[key]) + "\n")
		}
	})
	return []byte(out.String())
}

// EditAnnotations updates an existing metadata/annotations.yaml. Other keys, comments and
// the order stay.
func (m Metadata) EditAnnotations(src []byte) ([]byte, error) {
	doc, err := yamledit.Decode(src)
	if err != nil {
		return nil, err
	}
	want := maps.Clone(doc.Value)
	if want == nil {
		want = map[string]any{}
	}
	before, ok := want["annotations"].(map[string]any)
	if !ok && want["annotations"] != nil {
		return nil, fault.In(doc.Place([]any{"annotations"}), fault.Usage("write keys with values below it", "annotations is not a mapping"))
	}
	annotations := maps.Clone(before)
	if annotations == nil {
		annotations = map[string]any{}
	}
	for key, value := range m.annotations() {
		annotations[key] = value
	}
	for _, key := range m.Unset() {
		delete(annotations, key)
	}
	want["annotations"] = annotations
	return yamledit.Rewrite(src, want)
}

// ReadAnnotations returns the annotations in metadata/annotations.yaml. Values must be strings: a
// number such as 4.10 would lose its zero.
func ReadAnnotations(src []byte) (map[string]string, error) {
	return readAnnotations(src, false)
}

// readAnnotations also accepts numbers and booleans, as OLM does, if scalars is set. They stay as they are written.
func readAnnotations(src []byte, scalars bool) (map[string]string, error) {
	doc, err := yamledit.Decode(src)
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	annotations, _ := doc.Value["annotations"].(map[string]any)
	for key, value := range annotations {
		text, ok := value.(string)
		switch value.(type) {
		case map[string]any, []any, nil:
		default:
			if scalars {
				text, ok = doc.Text([]any{"annotations", key}, fmt.Sprint(value)), true
			}
		}
		if !ok {
			return nil, fault.In(doc.Place([]any{"annotations", key}), fault.Usage("put the value into quotes", "%s is not a string", key))
		}
		values[key] = text
	}
	return values, nil
}
