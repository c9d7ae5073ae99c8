package cli

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "rewrite docs/commands.md")

// TestReference checks that docs/commands.md is equal to the help texts of the commands.
func TestReference(t *testing.T) {
	const file = "../../docs/commands.md"
	var got bytes.Buffer
	writeReference(&got, newRoot(&command.App{Catalogue: catalogue()}))
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("docs/commands.md differs (`make golden` rewrites it):\n%s", diff)
	}
}

// jsonOutput is what TestJSONOutput checks.
const jsonOutput = "With `--output json`, stdout has one document in JSON, or nothing if the command fails before it has a result.\n" +
	"Commands that validate print their findings, also those for which they fail. Errors, warnings and progress are text\n" +
	"on stderr, and the exit code says whether the command succeeded."

// writeReference prints every command as Markdown.
func writeReference(out io.Writer, root *cobra.Command) {
	intro := strings.TrimSuffix(root.Long, exitCodes)
	fmt.Fprintf(out, "<!-- Written by `make golden` from the commands themselves. -->\n\n# Commands\n\n%s%s\n\n%s\n",
		intro, "```text\n"+exitCodes+"\n```", jsonOutput)
	walk(root, func(cmd *cobra.Command) {
		if cmd == root || cmd.Hidden || !cmd.Runnable() && !cmd.HasSubCommands() {
			return
		}
		fmt.Fprintf(out, "\n## %s\n\n%s\n", cmd.CommandPath(), text(cmd))
		if cmd.HasSubCommands() && cmd.DisableFlagParsing { // a group
			return
		}
		fmt.Fprintf(out, "\n    %s\n", cmd.UseLine())
		if cmd.Example != "" {
			fmt.Fprintf(out, "\nExamples:\n\n%s\n", indentLines(cmd.Example, "  "))
		}
		writeFlagTable(out, cmd)
	})
}

func walk(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, child := range cmd.Commands() {
		walk(child, visit)
	}
}

// text returns the description of a command.
func text(cmd *cobra.Command) string {
	if cmd.Long != "" {
		return cmd.Long
	}
	return cmd.Short + "."
}

// indentLines indents all lines that are not empty.
func indentLines(s, indent string) string {
	return strings.ReplaceAll(indent+strings.ReplaceAll(s, "\n", "\n"+indent), indent+"\n", "\n")
}

func writeFlagTable(out io.Writer, cmd *cobra.Command) {
	if !cmd.LocalFlags().HasAvailableFlags() {
		return
	}
	fmt.Fprint(out, "\n| flag | default | meaning |\n| --- | --- | --- |\n")
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		preset := ""
		if f.DefValue != "" && f.DefValue != "[]" {
			preset = "`" + f.DefValue + "`"
		}
		fmt.Fprintf(out, "| `--%s` | %s | %s |\n", f.Name, preset, strings.ReplaceAll(f.Usage, "|", `\|`))
	})
}
