package cli

import "github.com/spf13/cobra"

func newCreate(a *App) *cobra.Command {
	return newGroup("create", "Add to a project", newCreateAPI(a))
}
