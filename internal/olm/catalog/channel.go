package catalog

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/olm/bundle"
)

// channel validates a channel: its entries, and the graph of its upgrades.
func (v *validator) channel(ch Doc[Channel], m *packageContent) {
	c := ch.Value
	if len(c.Entries) == 0 {
		report(v, ch, ruleChannelEmpty, []any{"entries"}, "channel %s has no entries", c.Name)
		return
	}
	for i, e := range c.Entries {
		v.entry(ch, i, e, m)
	}
	heads := c.heads()
	switch {
	case len(heads) == 0:
		for _, e := range c.Entries {
			if chain, cycle := c.chain(e.Name); cycle {
				v.cycle(ch, chain)
				return
			}
		}
		report(v, ch, ruleChannelHead, []any{"entries"}, "channel %s has no head: each entry is replaced or skipped by another one", c.Name)
		return
	case len(heads) > 1:
		report(v, ch, ruleChannelHead, []any{"entries"}, "channel %s has several heads: %s", c.Name, strings.Join(heads, ", "))
		return
	}
	chain, cycle := c.chain(heads[0])
	if cycle {
		v.cycle(ch, chain)
		return
	}
	for _, i := range c.stranded(chain) {
		report(v, ch, ruleEntryStranded, []any{"entries", i}, "no upgrade leads from %s to the head %s of channel %s", c.Entries[i].Name, heads[0], c.Name)
	}
}

// cycle reports entries of a channel that replace each other.
func (v *validator) cycle(ch Doc[Channel], chain []string) {
	report(v, ch, ruleChannelCycle, []any{"entries"}, "the upgrades in channel %s form a cycle: %s", ch.Value.Name, strings.Join(chain, " replaces "))
}

// entry validates one entry of a channel.
func (v *validator) entry(ch Doc[Channel], i int, e Entry, m *packageContent) {
	path := []any{"entries", i}
	if _, ok := m.bundles[e.Name]; !ok {
		report(v, ch, ruleEntryBundle, path, "channel %s has the entry %q, which is not a bundle of package %s", ch.Value.Name, e.Name, ch.Value.Package)
	}
	if slices.Contains(e.Skips, "") {
		report(v, ch, RuleEntrySkips, path, "entry %s skips an empty name", e.Name)
	}
	if e.SkipRange != "" && !bundle.IsRange(e.SkipRange) {
		report(v, ch, RuleEntrySkips, path, "skipRange %q of entry %s is not a range of versions such as >=1.0.0 <1.2.0", e.SkipRange, e.Name)
	}
	if _, ok := m.bundles[e.Replaces]; e.Replaces != "" && !ok {
		report(v, ch, ruleReplacesUnknown, path, "entry %s replaces %s, which is not a bundle of package %s", e.Name, e.Replaces, ch.Value.Package)
	}
	version, ok := m.versions[e.Name]
	for _, predecessor := range slices.Concat([]string{e.Replaces}, e.Skips) {
		if old, known := m.versions[predecessor]; ok && known && predecessor != e.Name && old.GT(version) {
			report(v, ch, ruleDowngrade, path, "entry %s replaces or skips %s, which has a higher version", e.Name, predecessor)
		}
	}
}

// heads returns the entries that no entry replaces or skips. A valid channel has one.
func (c Channel) heads() []string {
	upgraded := map[string]bool{}
	for _, e := range c.Entries {
		upgraded[e.Replaces] = true
		for _, s := range e.Skips {
			upgraded[s] = true
		}
	}
	var heads []string
	for _, e := range c.Entries {
		if !upgraded[e.Name] {
			heads = append(heads, e.Name)
		}
	}
	slices.Sort(heads)
	return heads
}

// skipped returns the names that entries skip.
func (c Channel) skipped() map[string]bool {
	skipped := map[string]bool{}
	for _, e := range c.Entries {
		for _, s := range e.Skips {
			skipped[s] = true
		}
	}
	return skipped
}

// stranded returns the indexes of the entries from which no upgrade leads to the head: they are neither in its chain,
// nor skipped. OLM does not upgrade through a skipped entry.
func (c Channel) stranded(chain []string) []int {
	upgraded := c.skipped()
	for _, name := range chain {
		upgraded[name] = true
	}
	var all []int
	for i, e := range c.Entries {
		if !upgraded[e.Name] {
			all = append(all, i)
		}
	}
	return all
}

// chain follows replaces from the head. It ends at an entry that the channel lacks, or that is
// skipped. With a cycle, the chain is the cycle.
func (c Channel) chain(head string) (names []string, cycle bool) {
	replaces := map[string]string{}
	for _, e := range c.Entries {
		replaces[e.Name] = e.Replaces
	}
	skipped, seen := c.skipped(), map[string]bool{}
	for name := head; ; {
		if seen[name] {
			return append(names[slices.Index(names, name):], name), true
		}
		seen[name] = true
		names = append(names, name)
		predecessor, ok := replaces[name]
		if !ok || predecessor == "" || skipped[predecessor] {
			return names, false
		}
		name = predecessor
	}
}
