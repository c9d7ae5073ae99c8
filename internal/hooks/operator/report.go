package operator

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/output"
	"github.com/operon-dev/operon/internal/hooks/patch"
)

// ANSI colour codes.
const (
	red   = "31"
	faint = "2"
)

// Text returns a line about the run, followed by indented lines with its metrics, the
// findings about the files that the hook wrote, and its output.
func (r Run) Text(paint finding.Paint) string {
	var out strings.Builder
	result := r.result()
	if r.Err != nil {
		result = paint(red, result)
	}
	head := fmt.Sprintf("%s %8s  ", r.At.Format(time.TimeOnly), duration(r.Duration))
	fmt.Fprintf(&out, "%s%s  %s%s%s\n", paint(faint, head), r.Hook, r.summary(), paint(faint, " -> "), result)
	const indent = "                    "
	for _, m := range r.Metrics {
		fmt.Fprintf(&out, "%s%s\n", indent, metricText(m))
	}
	for _, f := range r.Warnings {
		fmt.Fprintf(&out, "%s%s\n", indent, f.Text(paint))
	}
	for _, stream := range [][]byte{r.Stdout, r.Stderr} {
		for line := range strings.Lines(string(stream)) {
			fmt.Fprintf(&out, "%s%s %s\n", indent, paint(faint, "|"), strings.TrimRight(line, "\r\n"))
		}
	}
	return out.String()
}

// result returns what the hook did, or why it failed.
func (r Run) result() string {
	var parts []string
	switch n := len(r.Operations); {
	case n > 3:
		parts = append(parts, count(n, "operation"))
	default:
		for _, op := range r.Operations {
			parts = append(parts, patch.Describe(op))
		}
	}
	if n := len(r.Metrics); n > 0 {
		parts = append(parts, count(n, "metric"))
	}
	switch a := r.Admission; {
	case r.Err != nil || a == nil:
	case !a.Allowed:
		parts = append(parts, strings.TrimSuffix("denied: "+a.Message, ": "))
	case len(a.Patch) > 0:
		parts = append(parts, "allowed with changes")
	default:
		parts = append(parts, "allowed")
	}
	if c := r.Conversion; r.Err == nil && c != nil {
		parts = append(parts, "converted "+count(len(c.ConvertedObjects), "object"))
	}
	if r.Err == nil {
		return strings.Join(append(parts, "ok")[:max(1, len(parts))], ", ")
	}
	text := "error: " + strings.ReplaceAll(r.Err.Error(), "\n", "; ")
	if r.ExitCode != 0 { // its output follows the line
		text = fmt.Sprintf("error: exit code %d", r.ExitCode)
	}
	if r.RetryIn > 0 {
		text += fmt.Sprintf(" (retry in %s)", r.RetryIn)
	}
	return text
}

// metricText returns a metric in the form that Prometheus shows.
func metricText(m output.Metric) string {
	var labels []string
	for _, name := range slices.Sorted(maps.Keys(m.Labels)) {
		labels = append(labels, fmt.Sprintf("%s=%q", name, m.Labels[name]))
	}
	text := m.Action + " " + m.Name
	if labels != nil {
		text += "{" + strings.Join(labels, ",") + "}"
	}
	if m.Value != nil {
		text += fmt.Sprintf(" %v", *m.Value)
	}
	return text
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// duration returns a time in milliseconds, or in seconds from ten seconds on.
func duration(d time.Duration) string {
	if d >= 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}
