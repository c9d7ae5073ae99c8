// Package edit has what edits of the user's files share. An edit is a function from bytes
// to bytes. It finds its place by syntax, never by text search, and does not print the
// file again: every line outside the edit keeps its bytes, including its line ending. To
// repeat an edit changes nothing.
//
// Package goedit edits Go files, and package yamledit YAML files.
package edit

import "bytes"

// LineEnd returns the line ending that most lines of src have.
func LineEnd(src []byte) string {
	if crlf := bytes.Count(src, []byte("\r\n")); 2*crlf > bytes.Count(src, []byte("\n")) {
		return "\r\n"
	}
	return "\n"
}
