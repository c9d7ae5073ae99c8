package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is how wide flags are told of in help, in columns.
const helpWidth = 80

// wrapped is the call that shows flags so wide, in a template of cobra.
var wrapped = fmt.Sprintf("Flags.FlagUsagesWrapped %d ", helpWidth)

// usageTemplate is that of a command, but that flags fit on a terminal.
func usageTemplate(of *cobra.Command) string {
	return strings.ReplaceAll(of.UsageTemplate(), "Flags.FlagUsages ", wrapped)
}

// section is a part of a command's flags, under a heading of its own.
type section struct {
	title string
	flags []string
}

// inSections has the help of a command show its flags in sections, in their order,
// and those that no section names under the last title.
func inSections(cmd *cobra.Command, last string, sections ...section) {
	cmd.InitDefaultHelpFlag()
	cmd.Flags().SortFlags = false
	rest := section{title: last}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !slices.ContainsFunc(sections, func(s section) bool { return slices.Contains(s.flags, f.Name) }) {
			rest.flags = append(rest.flags, f.Name)
		}
	})
	var out strings.Builder
	for _, s := range append(sections, rest) {
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		set.SortFlags = false
		for _, name := range s.flags {
			set.AddFlag(cmd.Flags().Lookup(name))
		}
		out.WriteString("\n\n" + s.title + ":\n" + strings.TrimRight(set.FlagUsagesWrapped(helpWidth), "\n"))
	}
	flags := "\n\nFlags:\n{{.Local" + wrapped + "| trimTrailingWhitespaces}}"
	cmd.SetUsageTemplate(strings.Replace(usageTemplate(cmd), flags, out.String(), 1))
}

// hanging breaks a text that begins at a column into lines that fit on a terminal.
func hanging(text string, column int) string {
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
