package assets

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/pins"
)

func TestPath(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "ok")
	here := "-" + platform()
	w.put("1.36.2"+here, programs...)
	w.put("1.36.9"+here, programs...)
	w.put("1.36.10"+here, programs...)
	w.put("1.36.11"+here, "etcd", "kubectl") // a download that stopped
	w.put("1.36.12-plan9-mips", programs...) // another machine's
	w.put("v1.36.13"+here, programs...)      // not a name of setup-envtest
	w.put("1.36.14-rc.0"+here, programs...)  // not a release
	w.put("1.35.1"+here, "etcd", "kubectl")  // one missing
	w.put("1.34.1"+here, "kubectl")          // two missing
	w.put(pins.Kubernetes+here, programs...) // the pin
	w.put("notes")                           // anything else
	w.put("1.33.1" + here)                   // empty
	w.put("1.32.1"+here, "etcd", "kubectl")  // see below: half a program
	half := filepath.Join(w.root, "k8s", "1.32.1"+here, executable("kube-apiserver"))
	truncatedSelf(t, half)

	tests := []struct {
		version string
		folder  string // the answer, or
		err     string // a part of the error, and
		hint    string // a part of its hint
		code    int
	}{
		{version: "", folder: pins.Kubernetes},
		{version: pins.Kubernetes, folder: pins.Kubernetes},
		{version: "v" + pins.Kubernetes, folder: pins.Kubernetes},
		{version: "1.37", folder: pins.Kubernetes},
		{version: "1.36", folder: "1.36.10"},
		{version: "1.36.x", folder: "1.36.10"},
		{version: "1.36.*", folder: "1.36.10"},
		{version: "1.36.2", folder: "1.36.2"},
		{version: "1.36.11", code: 1, err: "kube-apiserver", hint: "--download"},
		{version: "1.35", code: 1, err: "1.35.1" + here + " is incomplete: " + executable("kube-apiserver") + " is missing", hint: "operon builds only " + pins.Kubernetes},
		{version: "1.34", code: 1, err: executable("etcd") + " and " + executable("kube-apiserver") + " are missing", hint: "--download"},
		{version: "1.33.1", code: 1, err: "are missing", hint: "--download"},
		{version: "1.32", code: 1, err: executable("kube-apiserver") + " is only partly written", hint: "--download"},
		{version: "1.36.12", code: 1, err: "no control plane for Kubernetes 1.36.12", hint: Var},
		{version: "1.36.13", code: 1, err: "no control plane"},
		{version: "1.37.99", code: 1, err: "no control plane", hint: "--download"},
		{version: "latest", code: 2, err: `Kubernetes version "latest" is not of the form`, hint: pins.Kubernetes},
		{version: "1", code: 2, err: "not of the form"},
		{version: "1.37.1-rc.0", code: 2, err: "not of the form"},
		{version: "1.037.1", code: 2, err: "not of the form"},
		{version: "1.99999999999999999999.1", code: 2, err: "not of the form"},
		{version: "../1.37.1", code: 2, err: "not of the form"},
		{version: "1.37.1\n", code: 2, err: "not of the form"},
	}
	for _, tt := range tests {
		t.Run(tt.version, func(t *testing.T) {
			t.Parallel()
			got, err := w.store().Path(tt.version)
			checkFault(t, err, tt.code, tt.err, tt.hint)
			want := ""
			if tt.folder != "" {
				want = filepath.Join(w.root, "k8s", tt.folder+here)
			}
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestPathEmptyStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "ok")
	for version, hint := range map[string]string{
		"":     "operon envtest build",
		"1.37": "operon envtest build --k8s-version 1.37",
	} {
		_, err := w.store().Path(version)
		checkFault(t, err, fault.CodeFailed, "no control plane for Kubernetes 1.37", hint)
	}
	if _, err := os.Stat(w.root); err == nil {
		t.Error("Path created the store")
	}
}

func TestPathVar(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "ok")
	w.put(pins.Kubernetes+"-"+platform(), programs...)
	good := w.put("elsewhere", programs...)
	bad := w.put("bad", "kubectl")
	if err := os.Mkdir(filepath.Join(bad, executable("etcd")), 0o755); err != nil {
		t.Fatal(err)
	}

	if got, err := w.store(Var + "=" + good).Path("1.20"); err != nil || got != good {
		t.Errorf("got %q, %v, want %q", got, err, good)
	}
	_, err := w.store(Var + "=" + good).Path("newest")
	checkFault(t, err, fault.CodeUsage, "not of the form", "")
	_, err = w.store(Var + "=" + bad).Path("")
	checkFault(t, err, fault.CodeFailed, Var+"="+bad+": "+executable("etcd")+" is not a file", "unset it")
	_, err = w.store(Var + "=" + w.root).Path("")
	checkFault(t, err, fault.CodeFailed, executable("kube-apiserver")+" and "+executable("kubectl")+" are missing", "unset it")
}

func TestPathNotExecutable(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no executable bit")
	}
	w := newWorld(t, "ok")
	dir := w.put(pins.Kubernetes+"-"+platform(), "etcd", "kubectl")
	if err := os.WriteFile(filepath.Join(dir, "kube-apiserver"), []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := w.store().Path("")
	checkFault(t, err, fault.CodeFailed, "kube-apiserver is not executable", "operon envtest build")
	if err := os.Chmod(filepath.Join(dir, "kube-apiserver"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := w.store().Path(""); err != nil || got != dir {
		t.Errorf("a wrapper script: got %q, %v", got, err)
	}
}

// truncatedSelf writes the test binary without its last part.
func truncatedSelf(t *testing.T, at string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, b[:len(b)/2], 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestCheckProgram(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := checkProgram(self); err != nil {
		t.Errorf("the test binary: %v", err)
	}
	for _, content := range []string{"", "\x7f", "\x7fELF", "\x7fELF\x02\x01\x01", "\xcf\xfa\xed\xfe\x07\x00\x00\x01", "MZ\x90\x00"} {
		file := filepath.Join(t.TempDir(), "p.exe")
		if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := checkProgram(file); !errors.Is(err, errTruncated) {
			t.Errorf("%q: got %v", content, err)
		}
	}
}

func TestDefaultRoot(t *testing.T) {
	t.Parallel()
	tests := []struct {
		goos string
		env  []string
		want string
		err  string
	}{
		{goos: "linux", env: []string{"HOME=/h"}, want: "/h/.local/share/kubebuilder-envtest"},
		{goos: "linux", env: []string{"HOME=/h", "XDG_DATA_HOME=/x"}, want: "/x/kubebuilder-envtest"},
		{goos: "linux", env: []string{"XDG_DATA_HOME=/x", "XDG_DATA_HOME=", "HOME=/h"}, want: "/h/.local/share/kubebuilder-envtest"},
		{goos: "linux", env: []string{}, err: "HOME is not set"},
		{goos: "freebsd", env: []string{"HOME=/h"}, want: "/h/.local/share/kubebuilder-envtest"},
		{goos: "darwin", env: []string{"HOME=/h", "XDG_DATA_HOME=/x"}, want: "/h/Library/Application Support/io.kubebuilder.envtest"},
		{goos: "darwin", env: []string{}, err: "HOME is not set"},
		{goos: "windows", env: []string{"LocalAppData=/l"}, want: "/l/kubebuilder-envtest"},
		{goos: "windows", env: []string{"HOME=/h"}, err: "LocalAppData is not set"},
	}
	for _, tt := range tests {
		got, err := defaultRoot(tt.goos, tt.env)
		if filepath.ToSlash(got) != tt.want {
			t.Errorf("%s %q: got %q, want %q", tt.goos, tt.env, got, tt.want)
		}
		checkFault(t, err, map[bool]int{true: fault.CodeFailed}[tt.err != ""], tt.err, "")
	}
}

// checkFault compares the code, text and hint of an error. Code 0 means no error.
func checkFault(t *testing.T, err error, code int, text, hint string) {
	t.Helper()
	if fault.Code(err) != code {
		t.Fatalf("got code %d (%v), want %d", fault.Code(err), err, code)
	}
	if err == nil {
		return
	}
	if !strings.Contains(err.Error(), text) {
		t.Errorf("error %q lacks %q", err, text)
	}
	if !strings.Contains(fault.HintOf(err), hint) {
		t.Errorf("hint %q lacks %q", fault.HintOf(err), hint)
	}
}
