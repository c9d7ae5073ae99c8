package command

import (
	"fmt"
	"strings"
	"time"
)

// IndentRest puts indent before every line of text but the first.
func IndentRest(text, indent string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+indent)
}

func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// HangingIndent breaks a text that begins at a column into lines that fit on a terminal.
func HangingIndent(text string, column int) string {
	var out strings.Builder
	at := column
	for i, word := range strings.Fields(text) {
		switch {
		case i > 0 && at+1+len(word) > helpWidth:
			out.WriteString("\n" + strings.Repeat(" ", column))
			at = column
		case i > 0:
			out.WriteByte(' ')
			at++
		}
		out.WriteString(word)
		at += len(word)
	}
	return out.String()
}

func Files(files int) string {
	if files == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", files)
}

// Duration is a time in milliseconds, or from ten seconds on in seconds.
func Duration(d time.Duration) string {
	if d >= 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}
