package bundlecmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/clusterflags"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/olm/podsecurity"
	"github.com/operon-dev/operon/internal/olm/scorecard"
	"github.com/spf13/cobra"
)

// podFlags hold the flags for tests that run as pods.
type podFlags struct {
	where        clusterflags.Flags
	account      string
	podSecurity  string
	skipCleanup  bool
	waitTime     time.Duration
	storageImage string
	untarImage   string
	testOutput   string
}

func (p *podFlags) bind(a *command.App, cmd *cobra.Command) {
	f := cmd.Flags()
	p.where.Bind(a, cmd)
	p.where.BindNamespace(cmd, "n", "namespace of the pods (default: the namespace of the context)")
	f.StringVarP(&p.account, "service-account", "s", "", `ServiceAccount of the pods (default: from the configuration, or "default")`)
	f.StringVar(&p.podSecurity, "pod-security", podsecurity.Legacy, "restricted: the pods keep the restricted Pod Security Standard; legacy: they need not")
	f.BoolVarP(&p.skipCleanup, "skip-cleanup", "x", false, "keep the pods and the ConfigMap of the bundle")
	f.DurationVarP(&p.waitTime, "wait-time", "w", 30*time.Second, "how long the tests may take")
	// operator-sdk v1.42 has these digests.
	f.StringVarP(&p.storageImage, "storage-image", "b", "quay.io/operator-framework/scorecard-storage@sha256:a3bfda71281393c7794cabdd39c563fb050d3020fd0b642ea164646bdd39a0e2",
		"image with a shell and tar, for tests with a storage")
	f.StringVarP(&p.untarImage, "untar-image", "u", "quay.io/operator-framework/scorecard-untar@sha256:2e728c5e67a7f4dec0df157a322dd5671212e8ae60f69137463bd4fdfbff8747",
		"image with tar and gzip, which unpacks the bundle")
	f.StringVarP(&p.testOutput, "test-output", "t", "test-output", "`folder` for what tests write to their storage")
	command.CompleteValues(cmd, "pod-security", podsecurity.Legacy, podsecurity.Restricted)
	command.CompleteFolder(cmd, "test-output")
	command.CompleteNothing(cmd, "service-account", "wait-time", "storage-image", "untar-image")
}

func (p *podFlags) check() error {
	if err := command.CheckValue("pod-security", p.podSecurity, podsecurity.Legacy, podsecurity.Restricted); err != nil {
		return err
	}
	if p.waitTime <= 0 {
		return fault.Usage("for example: --wait-time 2m", "--wait-time %s is not greater than zero", p.waitTime)
	}
	return nil
}

// run runs the tests. It connects to a cluster only if a test needs one.
func (p *podFlags) run(
	ctx context.Context, a *command.App, account string, files map[string][]byte,
	stages []v1alpha3.StageConfiguration, builtin scorecard.Builtin,
) (results v1alpha3.TestList, err error) {
	if !slices.ContainsFunc(scorecard.List(stages).Items, func(t v1alpha3.Test) bool { return !scorecard.IsBuiltin(t.Spec) }) {
		return scorecard.Run(ctx, stages, builtin, nil), nil
	}
	outputs, err := scorecard.OutputFolders(a.Path(p.testOutput), stages)
	if err != nil {
		return results, err
	}
	pods, err := p.connect(ctx, a, account)
	if err != nil {
		return results, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, p.waitTime, fmt.Errorf("the tests did not end within %s (--wait-time)", p.waitTime))
	defer cancel()
	defer func() {
		if p.skipCleanup {
			a.Notef("kept in the namespace %s: the ConfigMap %s, and the pods with %s", pods.Namespace, pods.Name(), pods.Selector())
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		if left := pods.Stop(ctx); err == nil {
			err = left
		} else if left != nil {
			a.Notef("warning: %v", left)
		}
	}()
	if err := pods.Start(limited, files); err != nil {
		return results, err
	}
	if err := scorecard.EmptyFolders(pods.OutputDir, outputs); err != nil {
		return results, err
	}
	results = scorecard.Run(limited, stages, builtin, pods)
	return results, context.Cause(ctx) // nil unless the user interrupts
}

// connect returns the runner for pods.
func (p *podFlags) connect(ctx context.Context, a *command.App, account string) (*scorecard.Pods, error) {
	c, err := p.where.Connect(ctx, a)
	if err != nil {
		return nil, err
	}
	return &scorecard.Pods{
		Cluster: scorecard.Cluster{
			Objects: c.Objects(),
			Log: func(ctx context.Context, namespace, pod, container string) (string, error) {
				return c.Log(ctx, namespace, pod, container, nil)
			},
			Exec: c.Exec,
		},
		Namespace:      cmp.Or(c.Namespace, "default"),
		ServiceAccount: cmp.Or(p.account, account, "default"),
		Restricted:     p.podSecurity == podsecurity.Restricted,
		UntarImage:     p.untarImage,
		StorageImage:   p.storageImage,
		OutputDir:      a.Path(p.testOutput),
		Note:           a.Notef,
	}, nil
}
