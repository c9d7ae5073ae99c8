// Package testplane has the flags that select the control plane for tests of hooks and charts.
package testplane

import (
	"slices"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/controlplane"
	"github.com/operon-dev/operon/internal/controlplane/assets"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/testcluster"
	"github.com/spf13/cobra"
)

// Help is the part of a command's help about the flags.
const Help = `Without --name and --kubeconfig, the tests use the control plane "default" if it
runs, which saves its start: operon envtest start --detach. It has the same
objects afterwards. Otherwise, the command starts one, and stops it at the end.
operon envtest path --download or operon envtest build installs the programs.
Only the latter installs kube-controller-manager, for tests that delete owners
of other objects.`

// Flags are the values of the flags.
type Flags struct{ name, kubeconfig string }

// Bind declares --name and --kubeconfig.
func (f *Flags) Bind(a *command.App, cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.name, "name", "", "`name` of a running control plane, from operon envtest start (default: \"default\" if it runs; otherwise one for the tests)")
	cmd.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig `file` of an API server without nodes, for an administrator")
	command.CompleteFrom(cmd, "name", func() []string { return controlplane.RunningNames(a.Getenv) })
}

// Check validates the values.
func (f *Flags) Check() error {
	switch {
	case f.name != "" && f.kubeconfig != "":
		return fault.Usage("omit one of them", "--name and --kubeconfig name two control planes")
	case f.name != "":
		return controlplane.CheckName(f.name)
	}
	return nil
}

// Options returns the options of the API server for tests.
func (f *Flags) Options(a *command.App) testcluster.Options {
	o := testcluster.Options{
		Name: f.name, Kubeconfig: f.kubeconfig,
		Programs: func(root string) (string, error) {
			return assets.Find(a.Environ, root, a.Getenv("ENVTEST_K8S_VERSION"))
		},
		Program: a.Program, Environ: a.Environ, Getenv: a.Getenv, Progress: a.Progress,
		Warn: func(message string) { a.Warnf("%s", message) },
	}
	switch {
	case o.Kubeconfig != "":
		o.Kubeconfig = a.Path(o.Kubeconfig)
	case o.Name == "" && slices.Contains(controlplane.RunningNames(a.Getenv), controlplane.DefaultName):
		o.Name = controlplane.DefaultName
	}
	return o
}
