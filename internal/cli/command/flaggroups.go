package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the width of help texts, in columns.
const helpWidth = 80

// wrapped is the call in a template of cobra that prints flags with this width.
var wrapped = fmt.Sprintf("Flags.FlagUsagesWrapped %d ", helpWidth)

// UsageTemplate returns the usage template of a command, with flags wrapped at helpWidth. The
// usage of a group has only the line with [command].
func UsageTemplate(of *cobra.Command) string {
	return strings.Replace(RunnableTemplate(of), "{{if .Runnable}}", "{{if not .HasAvailableSubCommands}}", 1)
}

// RunnableTemplate is UsageTemplate for a command that has subcommands and does something without
// them.
func RunnableTemplate(of *cobra.Command) string {
	return strings.ReplaceAll(of.UsageTemplate(), "Flags.FlagUsages ", wrapped)
}

// FlagGroup is a section of flags in the help of a command.
type FlagGroup struct {
	Title string
	Flags []string
}

// GroupFlags makes the help of a command show its flags in sections. The title last is for
// flags of no section.
func GroupFlags(cmd *cobra.Command, last string, sections ...FlagGroup) {
	cmd.Flags().SortFlags = false
	// Other commands do not need this template, so it is made when the help is shown.
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		flags := "\n\nFlags:\n{{.Local" + wrapped + "| trimTrailingWhitespaces}}"
		cmd.SetUsageTemplate(strings.Replace(UsageTemplate(cmd), flags, flagSections(cmd, last, sections), 1))
		cmd.SetUsageFunc(nil) // the function of the root, which uses the template
		return cmd.Usage()
	})
}

// flagSections returns the flags of a command in sections.
func flagSections(cmd *cobra.Command, last string, sections []FlagGroup) string {
	rest := FlagGroup{Title: last}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !slices.ContainsFunc(sections, func(s FlagGroup) bool { return slices.Contains(s.Flags, f.Name) }) {
			rest.Flags = append(rest.Flags, f.Name)
		}
	})
	var out strings.Builder
	for _, s := range append(slices.Clone(sections), rest) {
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		set.SortFlags = false
		for _, name := range s.Flags {
			set.AddFlag(cmd.Flags().Lookup(name))
		}
		out.WriteString("\n\n" + s.Title + ":\n" + strings.TrimRight(set.FlagUsagesWrapped(helpWidth), "\n"))
	}
	return out.String()
}
