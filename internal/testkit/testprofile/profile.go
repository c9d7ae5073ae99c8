package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// profile records how long packages and tests of a go test run took.
type profile struct {
	packages, tests []result
	failed          []string // descriptions of failed tests and packages
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
	maxShown = 12  // lines of output of a failed test
)

// fail adds a failed test or package. With a package, the tests that have not ended are added:
// they ran when the time was up, or when the test binary crashed.
func (p *profile) fail(e event, output map[[2]string][]string) {
	pkg := shortened(e.Package)
	if e.Test != "" {
		p.failed = append(p.failed, pkg+" "+e.Test+"\n"+strings.Join(lastLines(output[[2]string{e.Package, e.Test}]), ""))
		return
	}
	p.failed = append(p.failed, pkg+"\n")
	for _, key := range slices.SortedFunc(maps.Keys(output), func(a, b [2]string) int { return cmp.Compare(a[1], b[1]) }) {
		if key[0] == e.Package && key[1] != "" {
			p.failed = append(p.failed, pkg+" "+key[1]+" did not end\n"+strings.Join(lastLines(output[key]), ""))
		}
	}
}

func lastLines(lines []string) []string { return lines[max(0, len(lines)-maxShown):] }

// failures is a text with the failed tests, or empty.
func (p *profile) failures() string {
	if len(p.failed) == 0 {
		return ""
	}
	return "\nfailed:\n" + strings.Join(p.failed, "")
}

// shortened is the path of a package in the repository.
func shortened(pkg string) string { return strings.TrimPrefix(pkg, "github.com/operon-dev/operon/") }

// add adds a test, or a package with its output. Packages without tests or with a cached
// result did not run.
func (p *profile) add(e event, output []string) {
	pkg := shortened(e.Package)
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
