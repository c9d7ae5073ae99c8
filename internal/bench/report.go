//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
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
	fmt.Fprintf(text, "Machine: %s, %d cores, %s of memory, %s, %s.\n\n", processor(), runtime.NumCPU(), memory(), system(), strings.TrimSpace(goVersion))
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

// field returns the value of the first line "key: value" in a file, or "".
func field(file, key string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func processor() string {
	if name := field("/proc/cpuinfo", "model name"); name != "" {
		return name
	}
	if out, err := exec.Command("sysctl", "-n", "machdep.cpu.brand_string").Output(); err == nil {
		return strings.TrimSpace(string(out))
	}
	return runtime.GOARCH
}

func memory() string {
	var amount float64
	if _, err := fmt.Sscan(field("/proc/meminfo", "MemTotal"), &amount); err == nil {
		return fmt.Sprintf("%.0f GB", amount/(1<<20))
	}
	if out, err := exec.Command("sysctl", "-n", "hw.memsize").Output(); err == nil {
		if _, err := fmt.Sscan(string(out), &amount); err == nil {
			return fmt.Sprintf("%.0f GB", amount/(1<<30))
		}
	}
	return "an unknown amount"
}

func system() string {
	out, err := exec.Command("uname", "-srm").Output()
	if err != nil {
		return runtime.GOOS + "/" + runtime.GOARCH
	}
	return strings.TrimSpace(string(out))
}
