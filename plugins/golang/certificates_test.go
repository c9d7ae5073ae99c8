package golang

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/plugins/golang/internal/manager"
	"github.com/spf13/afero"
)

// changeCerts plans and applies operon edit --webhook-certs.
func (x tester) changeCerts(by project.WebhookCerts) (warned []string) {
	x.Helper()
	before := x.cfg.Clone()
	x.cfg.SetWebhookCerts(by)
	events := []plugin.Event{{Type: plugin.Edit, Before: before}}
	if x.own() {
		events = append(events, x.replay()...)
	}
	for _, w := range x.apply(events...).Warnings() {
		warned = append(warned, w.File+": "+w.Message)
	}
	return warned
}

// own reports whether operon initialized the project.
func (x tester) own() bool {
	p, err := x.plan()
	return err == nil && p.HasBase("Makefile")
}

// TestCertificates lets the manager make its certificates before there is a webhook, and then adds one.
func TestCertificates(t *testing.T) {
	t.Parallel()
	x := fleet(t, nil)
	x.changeCerts(project.SelfCerts)
	x.lacks(project.DefaultMainFile, "certificates")
	x.lacks("go.mod", "cert-controller")

	e, _ := x.addWebhook(frigate(), project.Webhooks{Defaulting: true})
	x.settled(e)
	x.contains(project.DefaultMainFile, "certificates.Manage(mgr)")
	x.lacks(manager.CertificatesFile, "{Type: rotator.Validating", "{Type: rotator.CRDConversion")
}

// TestCertificatesThereAndBack checks that reverting restores every byte, also in a project of
// another tool and with the user's names.
func TestCertificatesThereAndBack(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(x tester){
		"unchanged": func(tester) {},
		"edited main.go": func(x tester) {
			x.write(project.DefaultMainFile, strings.ReplaceAll(x.read(project.DefaultMainFile), "mgr", "manager"))
		},
		"user's package": func(x tester) { x.write("internal/certificates/mine.go", "package certificates\n") },
		"another tool":   func(x tester) { _ = x.fs.RemoveAll(".operon") },
		"further module": func(x tester) { x.write("go.mod", x.read("go.mod")+"\nrequire example.org/other v1.0.0\n") },
		"hidden by a name": func(x tester) {
			x.write(project.DefaultMainFile, strings.Replace(x.read(project.DefaultMainFile), "func main() {\n", "func main() {\n\tcertificates := 1\n\t_ = certificates\n", 1))
		},
		"CRLF in main.go": func(x tester) {
			x.write(project.DefaultMainFile, strings.ReplaceAll(x.read(project.DefaultMainFile), "\n", "\r\n"))
		},
		"CRLF":              allCRLF,
		"moved to its file": func(x tester) { moveSetup(x) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := fleet(t, nil)
			x.addWebhook(frigate(), project.Webhooks{Defaulting: true})
			change(x)
			before := x.files()
			x.changeCerts(project.SelfCerts)
			if !slices.ContainsFunc([]string{project.DefaultMainFile, "cmd/setup.go"}, func(file string) bool {
				return strings.Contains(x.files()[file], ".Manage(m")
			}) {
				t.Errorf("nobody manages certificates:\n%s", x.read(project.DefaultMainFile))
			}
			for file, content := range x.files() {
				if crlf := strings.Count(content, "\r\n"); crlf > 0 && crlf < strings.Count(content, "\n") {
					t.Errorf("%s has different line endings", file)
				}
			}
			warned := x.changeCerts(project.CertManager)
			after := x.files()
			if name == "further module" { // the test has no module cache for it
				if !slices.Contains(warned, "go.mod: run go mod tidy: modules for certificates may no longer be needed") {
					t.Errorf("warnings: %v", warned)
				}
				after["go.mod"], after["go.sum"] = before["go.mod"], before["go.sum"]
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("(-before +after):\n%s", diff)
			}
		})
	}
}

// allCRLF checks out the files with CRLF, as git does on Windows.
func allCRLF(x tester) {
	for name, content := range x.files() {
		x.write(name, strings.ReplaceAll(content, "\n", "\r\n"))
	}
}

// moveSetup moves the setup of webhooks to another file of package main.
func moveSetup(x tester) {
	main := x.read(project.DefaultMainFile)
	const marker = "\t// +kubebuilder:scaffold:builder\n"
	from := strings.Index(main, "\tif os.Getenv(\"ENABLE_WEBHOOKS\")")
	to := strings.Index(main, marker)
	block := main[from:to]
	x.write(project.DefaultMainFile, strings.Replace(main[:from]+"\tsetup(mgr)\n"+main[to+len(marker):], "\twebhookv1 \"example.org/fleet/internal/webhook/v1\"\n", "", 1))
	x.write("cmd/setup.go", "package main\n\nimport (\n\t\"os\"\n\n\tctrl \"sigs.k8s.io/controller-runtime\"\n\n\twebhookv1 \"example.org/fleet/internal/webhook/v1\"\n)\n\nfunc setup(mgr ctrl.Manager) {\n"+block+marker+"}\n")
}

// files returns all files but operon's.
func (x tester) files() map[string]string {
	x.Helper()
	all := map[string]string{}
	err := afero.Walk(x.fs, "", func(name string, info fs.FileInfo, err error) error {
		if err == nil && !info.IsDir() && !strings.HasPrefix(name, ".operon") {
			all[name] = x.read(name)
		}
		return err
	})
	if err != nil {
		x.Fatal(err)
	}
	return all
}

// TestEditedCertificatesStay checks that a package that the user edited stays, and still builds
// because its modules stay, too.
func TestEditedCertificatesStay(t *testing.T) {
	t.Parallel()
	x := fleet(t, nil)
	x.changeCerts(project.SelfCerts)
	x.addWebhook(frigate(), project.Webhooks{Defaulting: true})
	x.write(manager.CertificatesFile, x.read(manager.CertificatesFile)+"\n// mine\n")
	warned := x.changeCerts(project.CertManager)
	if len(warned) != 1 || !strings.Contains(warned[0], "it stays because it was edited by hand") {
		t.Errorf("warnings: %v", warned)
	}
	x.contains(manager.CertificatesFile, "// mine")
	x.contains("go.mod", "cert-controller v0.16.0")
	x.lacks(project.DefaultMainFile, "certificates")
}

// TestCertificatesWithCRLF checks that other line endings are not an edit.
func TestCertificatesWithCRLF(t *testing.T) {
	t.Parallel()
	x := fleet(t, nil)
	x.changeCerts(project.SelfCerts)
	x.addWebhook(frigate(), project.Webhooks{Defaulting: true})
	allCRLF(x)
	if warned := x.changeCerts(project.CertManager); len(warned) > 0 {
		t.Errorf("warnings: %v", warned)
	}
	if ok, _ := afero.Exists(x.fs, manager.CertificatesFile); ok {
		t.Errorf("%s is still there", manager.CertificatesFile)
	}
}
