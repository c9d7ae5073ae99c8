// Package goedit changes Go files that belong to the user: it adds imports, calls and
// declarations, and renames what moved. A place is found by syntax, and only the bytes of
// the edit change. An edit that is already there changes nothing.
package goedit
