package golang

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

const e2eFile = "test/e2e/e2e_test.go"

// e2eCheck is a block of the end-to-end test.
type e2eCheck struct {
	marker string
	done   string // text in a file that has the block, in any form
	text   func(exec, utils string) string
}

// endpointsCheck waits until the API server can reach the webhooks.
const endpointsCheck = `By("waiting until the webhooks can be reached")
Eventually(func(g Gomega) {
	output, err := %[2]s.Run(%[1]s.Command("kubectl", "get", "endpointslices", "--namespace", namespace,
		"--selector", "kubernetes.io/service-name=%[3]s",
		"--output", "jsonpath={.items[*].endpoints[*].conditions.ready}"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(output).To(ContainSubstring("true"))
}).Should(Succeed())`

// caCheck waits until the API server trusts a webhook. The jsonpath prints each CA
// certificate between < and >; an empty one is missing.
const caCheck = `It("makes the API server trust %[3]s", func() {
	Eventually(func(g Gomega) {
		output, err := %[2]s.Run(%[1]s.Command("kubectl", "get", %[4]q, %[5]q,
			"--output", %[6]q))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(output).To(And(ContainSubstring("<"), Not(ContainSubstring("<>"))))
	}).Should(Succeed())
})`

// e2eChecks returns the blocks for the webhooks of r.
func e2eChecks(c *project.Config, r project.Resource) []e2eCheck {
	service := c.ProjectName + "-webhook-service"
	checks := []e2eCheck{{"e2e-metrics-webhooks-readiness", service, func(exec, utils string) string {
		return fmt.Sprintf(endpointsCheck, exec, utils, service)
	}}}
	ca := func(what, resource, name, jsonpath string) {
		checks = append(checks, e2eCheck{"e2e-webhooks-checks", name, func(exec, utils string) string {
			return fmt.Sprintf(caCheck, exec, utils, what, resource, name, "jsonpath="+jsonpath)
		}})
	}
	const each = "{range .webhooks[*]}<{.clientConfig.caBundle}>{end}"
	if r.Webhooks.Defaulting {
		ca("the defaulting webhooks", "mutatingwebhookconfiguration", c.ProjectName+"-mutating-webhook-configuration", each)
	}
	if r.Webhooks.Validation {
		ca("the validation webhooks", "validatingwebhookconfiguration", c.ProjectName+"-validating-webhook-configuration", each)
	}
	if r.Webhooks.Conversion {
		crd := r.PluralName() + "." + r.QualifiedGroup()
		ca("the conversion of "+crd, "customresourcedefinition", crd, "<{.spec.conversion.webhook.clientConfig.caBundle}>")
	}
	return checks
}

// wireE2E adds checks of r's webhooks to the end-to-end test, if the project has it. If a
// marker is missing, a warning has the lines.
func wireE2E(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	if !p.Exists(e2eFile) {
		return nil
	}
	for _, check := range e2eChecks(c, r) {
		users := !p.Seeded(e2eFile) // the user's file is edited first, and then its base
		err := source.Edit(p, e2eFile, func(f *goedit.File) error {
			mine := users
			users = false
			if src, err := f.Bytes(); err != nil || bytes.Contains(src, []byte(check.done)) {
				return err
			}
			at := goedit.Marker(check.marker)
			if f.ScopeAt(at) == nil {
				if mine {
					p.Warn(scaffold.Warning{File: e2eFile, Rule: "e2e",
						Message: "the marker +kubebuilder:scaffold:" + check.marker + " is missing; add these lines by hand",
						Lines:   check.text("exec", "utils")})
				}
				return nil
			}
			exec, utils := f.ImportAt("", "os/exec", at), f.ImportAt("", c.Repo+"/test/utils", at)
			return f.Insert(check.text(exec, utils), at)
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
