package command

import (
	"fmt"
	"strings"
	"time"
)

// IndentRest indents every line of text except the first.
func IndentRest(text, indent string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+indent)
}

// Plural returns a count with its noun, such as "2 hooks".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Files returns a number of files, such as "2 files".
func Files(n int) string { return Plural(n, "file") }

// Duration prints a time in milliseconds, or in seconds from ten seconds on.
func Duration(d time.Duration) string {
	if d >= 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}
