package catalog

import (
	"slices"

	"github.com/operon-dev/operon/internal/fault"
)

// Upgrade says which versions are upgraded to a bundle that is added to channels.
type Upgrade struct {
	Replaces  string // "" for the head of each channel
	Skips     []string
	SkipRange string
}

// NewEntry returns the entry of a bundle that is added to a channel. The channel may be new.
func (c *Catalog) NewEntry(pkg, channel, bundle string, u Upgrade) (Entry, error) {
	e := Entry{Name: bundle, Replaces: u.Replaces, Skips: u.Skips, SkipRange: u.SkipRange}
	if u.SkipRange != "" && !validRange(u.SkipRange) {
		return Entry{}, fault.Usage("use a range such as >=1.0.0 <1.2.0", "skip range %q is not a range of versions", u.SkipRange)
	}
	for _, ch := range c.Channels {
		if ch.Value.Package != pkg || ch.Value.Name != channel {
			continue
		}
		has := func(name string) bool {
			return slices.ContainsFunc(ch.Value.Entries, func(e Entry) bool { return e.Name == name })
		}
		if has(bundle) {
			return Entry{}, fault.Usage("remove the entry, or add another version", "channel %s already has the entry %s", channel, bundle)
		}
		if u.Replaces != "" && !has(u.Replaces) {
			return Entry{}, fault.Usage("name an entry of the channel: operon catalog graph", "channel %s has no entry %s to be replaced", channel, u.Replaces)
		}
		heads := ch.Value.Heads()
		if u.Replaces == "" && len(heads) > 0 {
			if len(heads) > 1 {
				return Entry{}, fault.Usage("choose one with --replaces", "channel %s has several heads", channel)
			}
			e.Replaces = heads[0]
		}
	}
	return e, nil
}
