package command

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// PrintTable prints rows on stdout, in aligned columns with two blanks between them.
// Cells contain no tabs or line breaks. A table for people starts with a row of
// column names in capitals.
func (a *App) PrintTable(rows [][]string) error {
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		if _, err := fmt.Fprintln(w, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return w.Flush()
}
