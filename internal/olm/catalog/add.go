package catalog

import (
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/bundle"
)

// Upgrade says which versions are upgraded to a bundle that is added to channels.
type Upgrade struct {
	Replaces  string // "" for the head of each channel
	Skips     []string
	SkipRange string
}

// UpgradeOf returns what the ClusterServiceVersion of a bundle says about upgrades.
func UpgradeOf(b *bundle.Bundle) Upgrade {
	return Upgrade{
		Replaces:  jsonvalue.String(b.Spec(), "replaces"),
		Skips:     jsonvalue.Strings(b.Spec(), "skips"),
		SkipRange: b.CSVAnnotation("olm.skipRange"),
	}
}

// Addition is a bundle that is added to channels of its package.
type Addition struct {
	Rendered
	Channels  []string // the default channel of a new package is the first one
	Upgrade   Upgrade
	Overwrite bool // the bundle may take the place of one with the same name
}

// Edits are changes of files of a catalog, by path. A file may be new.
type Edits map[string][]func([]byte) ([]byte, error)

func (e Edits) add(file string, edit func([]byte) ([]byte, error)) { e[file] = append(e[file], edit) }

// Apply returns the content of a file with its changes.
func (e Edits) Apply(file string, src []byte) ([]byte, error) {
	for _, edit := range e[file] {
		var err error
		if src, err = edit(src); err != nil {
			return nil, fault.In(file, err)
		}
	}
	return src, nil
}

// Add returns the edits that add a bundle to a catalog. What the catalog already has stays: there
// are no edits if it has the bundle in all channels. A new package gets a file of its own.
func (c *Catalog) Add(x Addition) (Edits, error) {
	edits := Edits{}
	packageFile, err := c.addPackage(x, edits)
	if err != nil {
		return nil, err
	}
	for _, name := range x.Channels {
		e, err := c.newEntry(x.Bundle.Package, name, x.Bundle.Name, x.Upgrade)
		if err != nil {
			return nil, err
		}
		ch := c.channel(x.Bundle.Package, name)
		switch {
		case ch == nil:
			file := lastFile(c.Channels, packageFile, func(ch Channel) bool { return ch.Package == x.Bundle.Package })
			edits.add(file, appended(Channel{SchemaChannel, x.Bundle.Package, name, []Entry{e}}))
		case !ch.Value.has(e.Name):
			edits.add(ch.File, func(src []byte) ([]byte, error) { return appendEntry(src, x.Bundle.Package, name, e) })
		}
	}
	return edits, c.addRendered(x, packageFile, edits)
}

// appended returns the edit that appends a document.
func appended(doc any) func([]byte) ([]byte, error) {
	return func(src []byte) ([]byte, error) { return appendDocument(src, doc) }
}

// addPackage adds the package unless there is one. It returns its file.
func (c *Catalog) addPackage(x Addition, edits Edits) (string, error) {
	if len(x.Channels) == 0 {
		return "", fault.Usage("name it with --channels", "bundle %s has no channel", x.Bundle.Name)
	}
	for _, p := range c.Packages {
		if p.Value.Name == x.Bundle.Package {
			return p.File, nil
		}
	}
	file := newFile(x.Bundle.Package)
	edits.add(file, appended(Package{
		Schema: SchemaPackage, Name: x.Bundle.Package, DefaultChannel: x.Channels[0],
		Description: x.Description, Icon: x.Icon,
	}))
	return file, nil
}

// newFile returns the file of a new package.
func newFile(pkg string) string { return pkg + "/catalog.yaml" }

// AddPackage returns the edits that add a package to a catalog. There are none if the catalog has
// it. The package gets a file of its own.
func (c *Catalog) AddPackage(next Package) (Edits, error) {
	for _, p := range c.Packages {
		if p.Value.Name != next.Name {
			continue
		}
		if same, err := sameJSON(p.Value, next); err != nil || same {
			return nil, err
		}
		return nil, fault.Usage("edit the file", "%s:%d: the catalog has the package %s, with other values", p.File, p.Line, next.Name)
	}
	edits := Edits{}
	edits.add(newFile(next.Name), appended(next))
	return edits, nil
}

// lastFile returns the file of the last document that matches, or packageFile.
func lastFile[T any](docs []Doc[T], packageFile string, matches func(T) bool) string {
	for _, d := range docs {
		if matches(d.Value) {
			packageFile = d.File
		}
	}
	return packageFile
}

// addRendered adds the document of the bundle.
func (c *Catalog) addRendered(x Addition, packageFile string, edits Edits) error {
	for _, old := range c.Bundles {
		if old.Value.Package != x.Bundle.Package || old.Value.Name != x.Bundle.Name {
			continue
		}
		same, err := sameJSON(old.Value, x.Bundle)
		if err != nil || same {
			return err
		}
		if !x.Overwrite {
			return x.conflict(old)
		}
		edits.add(old.File, func(src []byte) ([]byte, error) { return replaceBundle(src, x.Bundle) })
		return nil
	}
	edits.add(lastFile(c.Bundles, packageFile, func(b Bundle) bool { return b.Package == x.Bundle.Package }), appended(x.Bundle))
	return nil
}

// channel returns a channel, or nil.
func (c *Catalog) channel(pkg, name string) *Doc[Channel] {
	for i, ch := range c.Channels {
		if ch.Value.Package == pkg && ch.Value.Name == name {
			return &c.Channels[i]
		}
	}
	return nil
}

// ChannelsOf returns the channels of a package that have a bundle.
func (c *Catalog) ChannelsOf(pkg, bundle string) (channels []string) {
	for _, ch := range c.Channels {
		if ch.Value.Package == pkg && ch.Value.has(bundle) {
			channels = append(channels, ch.Value.Name)
		}
	}
	return channels
}

// newEntry returns the entry of a bundle that is added to a channel. The channel may be new. If it
// has the entry, and the upgrade does not change it, the result is that entry.
func (c *Catalog) newEntry(pkg, channel, name string, u Upgrade) (Entry, error) {
	e := Entry{Name: name, Replaces: u.Replaces, Skips: u.Skips, SkipRange: u.SkipRange}
	if u.SkipRange != "" && !bundle.IsRange(u.SkipRange) {
		return Entry{}, fault.Usage("use a range such as >=1.0.0 <1.2.0", "skip range %q is not a range of versions", u.SkipRange)
	}
	ch := c.channel(pkg, channel)
	if ch == nil {
		return e, nil
	}
	if i := slices.IndexFunc(ch.Value.Entries, func(e Entry) bool { return e.Name == name }); i >= 0 {
		old := ch.Value.Entries[i]
		if u.Replaces != "" && u.Replaces != old.Replaces || u.SkipRange != "" && u.SkipRange != old.SkipRange ||
			u.Skips != nil && !slices.Equal(u.Skips, old.Skips) {
			return Entry{}, fault.Usage("edit the entry, or add another version", "%s:%d: channel %s has the entry %s, with other upgrades", ch.File, ch.lineOf("entries", i), channel, name)
		}
		return old, nil
	}
	if u.Replaces != "" {
		if !ch.Value.has(u.Replaces) {
			return Entry{}, fault.Usage("name an entry of the channel with --replaces: operon catalog graph", "channel %s has no entry %s to be replaced", channel, u.Replaces)
		}
		return e, nil
	}
	switch heads := ch.Value.heads(); len(heads) {
	case 0:
	case 1:
		e.Replaces = ch.Value.unskippedHead(heads[0], u.Skips)
	default:
		return Entry{}, fault.Usage("choose one with --replaces", "channel %s has several heads", channel)
	}
	return e, nil
}

// has reports whether a channel has an entry.
func (c Channel) has(name string) bool {
	return slices.ContainsFunc(c.Entries, func(e Entry) bool { return e.Name == name })
}

// unskippedHead returns the head that a new entry replaces: what skipped heads replace themselves. It is
// "" if all are skipped.
func (c Channel) unskippedHead(head string, skips []string) string {
	for range c.Entries { // a cycle ends, too
		if !slices.Contains(skips, head) {
			break
		}
		i := slices.IndexFunc(c.Entries, func(e Entry) bool { return e.Name == head })
		if i < 0 {
			return ""
		}
		head = c.Entries[i].Replaces
	}
	return head
}

// NewErrors returns the findings of the second list that the first one lacks, wherever they are:
// errors, and downgrades.
func NewErrors(before, after []finding.Finding) []finding.Finding {
	known := map[string]bool{}
	for _, f := range before {
		known[f.Rule+f.Message] = true
	}
	return slices.DeleteFunc(slices.Clone(after), func(f finding.Finding) bool {
		return known[f.Rule+f.Message] || f.Severity != finding.Error && f.Rule != ruleDowngrade.Name
	})
}

// Files returns the files that change, sorted.
func (e Edits) Files() []string { return slices.Sorted(maps.Keys(e)) }
