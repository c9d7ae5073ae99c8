package cli

import "github.com/spf13/cobra"

func newEdit(a *App) *cobra.Command {
	return &cobra.Command{Use: "edit", Short: "Change the project's layout, scope or licence header", Args: noArgs}
}
