// Package yamledit changes YAML files that belong to the user: it adds list items, sets
// keys and uncomments lines, and leaves every other byte as it was. It also decodes YAML
// with the line of each value, for error messages.
package yamledit
