package projectcmd

import (
	"cmp"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

// completeLayouts offers the layout keys with their descriptions.
func completeLayouts(a *command.App, cmd *cobra.Command) {
	command.CompleteFlag(cmd, "plugins", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var values []cobra.Completion
		for _, l := range a.Catalogue {
			doc := l.Doc()
			if l.Companion {
				doc += ", beside a layout"
			}
			values = append(values, cobra.CompletionWithDesc(cmp.Or(l.Short, l.Key), doc))
		}
		return append(values, a.InstalledPlugins()...), cobra.ShellCompDirectiveNoFileComp
	})
}

// bindWebhookCerts adds the flag that says who issues the certificates of webhooks.
func bindWebhookCerts(cmd *cobra.Command, by *string) {
	cmd.Flags().StringVar(by, "webhook-certs", string(project.CertManager),
		"who issues the certificates of webhooks: cert-manager, or self for the manager")
	command.CompleteValues(cmd, "webhook-certs", string(project.CertManager), string(project.SelfCerts))
}

// bindTemplates adds the flag that names the templates which a project shares with others.
func bindTemplates(cmd *cobra.Command, source *string) {
	cmd.Flags().StringVar(source, "templates", "", "templates that several projects share: a folder, or MODULE@VERSION in the module cache")
	command.CompleteFolder(cmd, "templates")
}
