package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// profile records how long packages and tests of a go test run took.
type profile struct {
	packages, tests []result
}

// result is a package or a test that ran.
type result struct {
	name      string // the path of the package, and the name of the test
	pkg       string
	wall, cpu float64 // seconds; cpu is 0 when the package prints none
}

// Limits of each list in the profile.
const (
	maxLines = 40
	minWall  = 0.5 // seconds; shorter results are left out
)

// add adds a test, or a package with its output. Packages without tests or with a cached
// result did not run.
func (p *profile) add(e event, output []string) {
	pkg := strings.TrimPrefix(e.Package, "github.com/operon-dev/operon/")
	r := result{name: pkg, pkg: pkg, wall: e.Elapsed}
	if e.Test != "" {
		r.name += " " + e.Test
		p.tests = append(p.tests, r)
		return
	}
	for _, line := range output {
		_, _ = fmt.Sscanf(line, "CPU: %f s", &r.cpu)
		if strings.HasSuffix(line, "(cached)\n") {
			return
		}
	}
	if e.Action != "skip" {
		p.packages = append(p.packages, r)
	}
}

// String is the profile as text, with the slowest packages and tests first.
func (p *profile) String() string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "wall s\tCPU s\t  package\n")
	for _, r := range slowest(p.packages) {
		cpu := ""
		if r.cpu > 0 {
			cpu = fmt.Sprintf("%.1f", r.cpu)
		}
		fmt.Fprintf(w, "%.1f\t%s\t  %s\n", r.wall, cpu, r.name)
	}
	fmt.Fprint(w, "\nwall s\t\t  test, with its subtests\n")
	for _, r := range slowest(p.ranTests()) {
		fmt.Fprintf(w, "%.1f\t\t  %s\n", r.wall, r.name)
	}
	_ = w.Flush()
	return text.String()
}

// ranTests are the tests of the packages that ran.
func (p *profile) ranTests() []result {
	ran := map[string]bool{}
	for _, r := range p.packages {
		ran[r.pkg] = true
	}
	return slices.DeleteFunc(slices.Clone(p.tests), func(r result) bool { return !ran[r.pkg] })
}

// slowest returns the slowest results, sorted by wall time.
func slowest(all []result) []result {
	all = slices.DeleteFunc(slices.Clone(all), func(r result) bool { return r.wall < minWall })
	slices.SortStableFunc(all, func(a, b result) int { return cmp.Compare(b.wall, a.wall) })
	return all[:min(len(all), maxLines)]
}
