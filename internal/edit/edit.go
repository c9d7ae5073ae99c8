// Package edit changes a few lines of a file that belongs to the user: bytes
// in, bytes out. Places are found by syntax, never by searching text, and
// nothing is printed anew, so every line outside the edit stays as it was, its
// line end included. An edit that is already there changes nothing.
//
// It is not a formatter and not a refactoring tool: it adds what operon adds to
// existing files, and says so when it cannot find where.
package edit

import "bytes"

// lineEnd returns the line end that most lines of src have.
func lineEnd(src []byte) string {
	if crlf := bytes.Count(src, []byte("\r\n")); 2*crlf > bytes.Count(src, []byte("\n")) {
		return "\r\n"
	}
	return "\n"
}
