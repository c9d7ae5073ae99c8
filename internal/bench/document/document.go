// Package document writes measurements into documents.
package document

import (
	"fmt"
	"os"
	"strings"
)

// Insert writes a text into a document, between the comments "measured by make TARGET" and
// "end".
func Insert(name, target, text string) error {
	from, to := "<!-- measured by make "+target+" -->\n", "<!-- end -->\n"
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	head, rest, begins := strings.Cut(string(content), from)
	_, tail, ends := strings.Cut(rest, to)
	if !begins || !ends {
		return fmt.Errorf("%s lacks the comments around the measurements: %q and %q", name, strings.TrimSpace(from), strings.TrimSpace(to))
	}
	return os.WriteFile(name, []byte(head+from+"\n"+text+"\n"+to+tail), 0o644)
}
