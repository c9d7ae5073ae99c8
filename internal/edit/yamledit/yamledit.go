// Package yamledit edits YAML files that belong to the user: it adds list
// items, sets keys and uncomments lines, and keeps all other bytes. It also
// decodes YAML with the line of each value, for error messages.
package yamledit
