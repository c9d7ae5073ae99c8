//go:build unix

package main

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// describe prints the machine and the commands.
func (b *bencher) describe(text *strings.Builder) {
	goVersion, _ := goCommand(".", "env", "GOVERSION")
	fmt.Fprintf(text, "Measured on %s with `make bench`: %d rounds, medians; a ratio is the median of the rounds' ratios.\n",
		time.Now().UTC().Format(time.DateOnly), b.rounds)
	fmt.Fprintf(text, "Machine: %d cores, %s, %s.\n\n", runtime.NumCPU(), system(), strings.TrimSpace(goVersion))
	fmt.Fprintf(text, "    operon generate %[1]s\n    controller-gen  %[1]s\n\n", strings.Join(corpora[0].arguments(first), " "))
}

// table prints rows, with times in milliseconds and memory in MB.
func table(text *strings.Builder, name, peer string, rows []*row) {
	fmt.Fprintf(text, "### %s\n\n", name)
	fmt.Fprintf(text, "| | operon ms | %[1]s ms | times faster | target | operon CPU ms | %[1]s CPU ms | operon peak MB | %[1]s peak MB |\n", peer)
	text.WriteString("| --- " + strings.Repeat("| ---: ", 8) + "|\n")
	for _, r := range rows {
		target := ""
		if r.target > 0 {
			target = fmt.Sprintf("%gx", r.target)
		}
		fmt.Fprintf(text, "| %s | %s | %s | **%s** | %s | %s | %s | %.0f | %.0f |\n", r.name,
			digits(median(r.ours, wall)), digits(median(r.theirs, wall)), digits(r.ratio(wall))+"x", target,
			digits(median(r.ours, cpu)), digits(median(r.theirs, cpu)), median(r.ours, peak), median(r.theirs, peak))
	}
	text.WriteString("\n")
}

// digits formats numbers below 20 with one decimal.
func digits(f float64) string {
	if f < 20 {
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.0f", f)
}

// system describes the processor, the memory and the operating system.
func system() string {
	out, err := exec.Command("sh", "-c", `sed -n 's/^model name\s*: //p; T; q' /proc/cpuinfo; sed -n 's/^MemTotal: *//p' /proc/meminfo; uname -srm`).Output()
	if err != nil {
		return runtime.GOOS + "/" + runtime.GOARCH
	}
	return strings.Join(strings.Split(strings.TrimSpace(string(out)), "\n"), ", ")
}
