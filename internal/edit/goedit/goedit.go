// Package goedit edits Go files that belong to the user: it adds imports, calls
// and declarations, and updates imports after a move. It finds places by syntax
// and changes only the bytes of the edit. Repeating an edit changes nothing.
package goedit
