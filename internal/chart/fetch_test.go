package chart_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/image"
)

// web returns the files of a chart.
func web(version string) map[string]string {
	return map[string]string{
		"Chart.yaml":           "apiVersion: v2\nname: web\nversion: " + version + "\n",
		"values.yaml":          "replicas: 1\n",
		"templates/web.yaml":   "kind: ConfigMap\n",
		"templates/_funcs.tpl": "{{/* none */}}\n",
	}
}

// pack returns an archive with files in a folder.
func pack(t *testing.T, folder string, files map[string]string) []byte {
	t.Helper()
	var members []tar.Header
	for _, name := range slices.Sorted(maps.Keys(files)) {
		members = append(members, tar.Header{Name: folder + "/" + name, Typeflag: tar.TypeReg, Size: int64(len(files[name]))})
	}
	return archive(t, members, func(name string) string { return files[strings.TrimPrefix(name, folder+"/")] })
}

func archive(t *testing.T, members []tar.Header, content func(name string) string) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	for _, m := range members {
		m.Mode = 0o644
		if err := w.WriteHeader(&m); err != nil {
			t.Fatal(err)
		}
		if m.Typeflag == tar.TypeReg {
			if _, err := io.WriteString(w, content(m.Name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// write writes files into a new folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// serve starts a repository with versions of the chart web. It asks for the password of joe.
func serve(t *testing.T) string {
	t.Helper()
	var index strings.Builder
	index.WriteString("apiVersion: v1\nentries:\n  empty:\n  - version: 1.0.0\n  web:\n")
	archives := map[string][]byte{}
	for _, version := range []string{"1.0.0", "1.10.0", "1.9.0", "2.0.0-rc.1", "1.5.0+build.1"} {
		name := "/charts/web-" + version + ".tgz"
		archives[name] = pack(t, "web", web(version))
		_, _ = fmt.Fprintf(&index, "  - version: %s\n    urls: [web-%s.tgz]\n    digest: %x\n", version, version, sha256.Sum256(archives[name]))
	}
	index.WriteString("  - {version: 0.1.0, urls: [web-1.0.0.tgz], digest: abc}\n  - {version: 0.2.0, urls: [gone.tgz]}\n")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		content, exists := archives[r.URL.Path]
		switch {
		case user != "joe" || password != "secret":
			http.Error(w, "who?", http.StatusUnauthorized)
		case r.URL.Path == "/charts/index.yaml":
			_, _ = io.WriteString(w, index.String())
		case r.URL.Path == "/charts/broken":
			http.Error(w, "broken", http.StatusBadGateway)
		case exists:
			_, _ = w.Write(content)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/charts"
}

// withPassword adds the password of joe to a URL.
func withPassword(address string) string {
	return strings.Replace(address, "http://", "http://joe:secret@", 1)
}

// push starts a registry with versions of the chart web, and returns its address.
func push(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	address := strings.TrimPrefix(server.URL, "http://") + "/charts/web"
	for _, version := range []string{"1.0.0", "1.10.0", "1.5.0+build.1"} {
		layer := static.NewLayer(pack(t, "web", web(version)), "application/vnd.cncf.helm.chart.content.v1.tar+gzip")
		img, err := mutate.AppendLayers(mutate.ConfigMediaType(empty.Image, "application/vnd.cncf.helm.config.v1+json"), layer)
		if err != nil {
			t.Fatal(err)
		}
		upload(t, address+":"+strings.ReplaceAll(version, "+", "_"), img)
	}
	upload(t, strings.TrimSuffix(address, "web")+"image:1.0.0", empty.Image)
	return address
}

func upload(t *testing.T, address string, img v1.Image) {
	t.Helper()
	if err := (image.Registry{}).Push(t.Context(), address, image.Content{Image: img}); err != nil {
		t.Fatal(err)
	}
}

// fetcher knows the repository acme.
func fetcher(t *testing.T, acme string) chart.Fetcher {
	t.Helper()
	dir := write(t, map[string]string{"repositories.yaml": "repositories:\n- {name: acme, url: " + acme + ", username: joe, password: secret}\n"})
	return chart.Fetcher{Getenv: func(name string) string { return map[string]string{"HELM_CONFIG_HOME": dir}[name] }}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	repository, oci := serve(t), push(t)
	folder := write(t, web("1.0.0"))
	file := filepath.Join(write(t, map[string]string{"web.tgz": string(pack(t, "web", web("1.0.0")))}), "web.tgz")
	f := fetcher(t, repository)
	for _, tc := range []struct {
		chart.Source
		version string
	}{
		{chart.Source{Chart: folder}, "1.0.0"},
		{chart.Source{Chart: file}, "1.0.0"},
		{chart.Source{Chart: withPassword(repository) + "/web-1.9.0.tgz"}, "1.9.0"},
		{chart.Source{Chart: "web", Repository: withPassword(repository)}, "1.10.0"},
		{chart.Source{Chart: "web", Repository: repository + "/", Version: "1.0.0"}, "1.0.0"},
		{chart.Source{Chart: "acme/web"}, "1.10.0"},
		{chart.Source{Chart: "acme/web", Version: "~1.9"}, "1.9.0"},
		{chart.Source{Chart: "acme/web", Version: ">=2.0.0-0"}, "2.0.0-rc.1"},
		{chart.Source{Chart: "acme/web", Version: "1.5.0+build.1"}, "1.5.0+build.1"},
		{chart.Source{Chart: "oci://" + oci}, "1.10.0"},
		{chart.Source{Chart: "oci://" + oci + ":1.0.0"}, "1.0.0"},
		{chart.Source{Chart: "oci://" + oci, Version: "1.5.0+build.1"}, "1.5.0+build.1"},
		{chart.Source{Chart: "web", Repository: "oci://" + strings.TrimSuffix(oci, "/web"), Version: "^1.0"}, "1.10.0"},
	} {
		fetched, err := f.Fetch(t.Context(), tc.Source)
		if err != nil {
			t.Errorf("%+v: %v", tc.Source, err)
			continue
		}
		got := map[string]string{}
		for name, content := range fetched.Files {
			got[name] = string(content)
		}
		if diff := cmp.Diff(web(tc.version), got); diff != "" || fetched.Chart.Metadata.Version != tc.version {
			t.Errorf("%+v: version %s\n%s", tc.Source, fetched.Chart.Metadata.Version, diff)
		}
		if strings.Contains(fetched.Origin, "secret") {
			t.Errorf("%+v: the origin has the password: %s", tc.Source, fetched.Origin)
		}
	}
}

func TestFetchErrors(t *testing.T) {
	t.Parallel()
	repository, oci := serve(t), push(t)
	f := fetcher(t, repository)
	dir := write(t, map[string]string{"text.tgz": "text", "bad/Chart.yaml": "name: [\n"})
	for _, tc := range []struct {
		chart.Source
		want string
	}{
		{chart.Source{Chart: "web"}, "there is no chart web"},
		{chart.Source{Chart: "./web"}, "there is no chart ./web"},
		{chart.Source{Chart: "other/web"}, "there is no repository other in "},
		{chart.Source{Chart: dir + "/text.tgz"}, dir + "/text.tgz: not a .tgz archive"},
		{chart.Source{Chart: dir + "/bad"}, dir + "/bad/Chart.yaml:1: "},
		{chart.Source{Chart: dir}, dir + "/Chart.yaml: the file is missing"},
		{chart.Source{Chart: "https://:x"}, "https://:x is not a URL"},
		{chart.Source{Chart: "http://127.0.0.1:1/web.tgz"}, "cannot fetch http://127.0.0.1:1/web.tgz: "},
		{chart.Source{Chart: "web", Repository: strings.Replace(repository, "http://", "http://joe:wrong@", 1)}, "cannot fetch http://joe:xxxxx@"},
		{chart.Source{Chart: "acme/nginx"}, repository + " has no chart nginx"},
		{chart.Source{Chart: "acme/web", Version: "3"}, "chart web has no version 3"},
		{chart.Source{Chart: "acme/web", Version: "new"}, `"new" is not a version`},
		{chart.Source{Chart: "acme/empty"}, repository + "/index.yaml has no URL for empty 1.0.0"},
		{chart.Source{Chart: "acme/web", Version: "0.1.0"}, repository + "/web-1.0.0.tgz: its checksum is "},
		{chart.Source{Chart: "acme/web", Version: "0.2.0"}, "cannot fetch " + repository + "/gone.tgz: the server does not have it"},
		{chart.Source{Chart: withPassword(repository) + "/broken"}, "cannot fetch http://joe:xxxxx@" + strings.TrimPrefix(repository, "http://") + "/broken: the server answers 502 Bad Gateway"},
		{chart.Source{Chart: "oci://" + oci, Version: "3"}, "chart web has no version 3"},
		{chart.Source{Chart: "oci://" + oci + ":1.0.0", Version: "1.10.0"}, "oci://" + oci + ":1.0.0 has another version than 1.10.0"},
		{chart.Source{Chart: "oci://" + oci + ":9"}, "cannot pull " + oci + ":9: the registry does not have it"},
		{chart.Source{Chart: "oci://" + strings.TrimSuffix(oci, "web") + "image:1.0.0"}, "oci://" + strings.TrimSuffix(oci, "web") + "image:1.0.0: not a Helm chart, but application/vnd.docker"},
		{chart.Source{Chart: "oci://" + strings.TrimSuffix(oci, "web") + "none"}, "cannot list the tags of "},
	} {
		_, err := f.Fetch(t.Context(), tc.Source)
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "secret") || fault.HintOf(err) == "" {
			t.Errorf("%+v\ngot  %v (hint %q)\nwant %s", tc.Source, err, fault.HintOf(err), tc.want)
		}
	}
}

// TestForeignServer has an archive on another server, which must not see the password of the
// repository.
func TestForeignServer(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 1)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Get("Authorization")
		_, _ = w.Write(pack(t, "web", web("1.0.0")))
	}))
	t.Cleanup(other.Close)
	repository := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "entries: {web: [{version: 1.0.0, urls: ['"+other.URL+"/web.tgz']}]}")
	}))
	t.Cleanup(repository.Close)
	if _, err := fetcher(t, repository.URL).Fetch(t.Context(), chart.Source{Chart: "acme/web"}); err != nil {
		t.Fatal(err)
	}
	if header := <-seen; header != "" {
		t.Errorf("another server got %s", header)
	}
}

func TestInterruptedFetch(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(func() { close(release); server.Close() })
	interrupted := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(interrupted)
	for _, source := range []string{server.URL + "/web.tgz", "oci://" + strings.TrimPrefix(server.URL, "http://") + "/web"} {
		if _, err := (chart.Fetcher{}).Fetch(ctx, chart.Source{Chart: source}); !errors.Is(err, interrupted) {
			t.Errorf("%s: %v", source, err)
		}
		_, err := chart.Fetcher{Timeout: time.Millisecond}.Fetch(t.Context(), chart.Source{Chart: source})
		if want := "cannot fetch " + source + ": no answer within 1ms"; err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestArchives(t *testing.T) {
	t.Parallel()
	member := func(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg} }
	sound := []tar.Header{member("web/Chart.yaml"), member("web/values.yaml")}
	large := tar.Header{Name: "web/large", Typeflag: tar.TypeReg, Size: 101 << 20}
	for want, members := range map[string][]tar.Header{
		`"../evil" is outside of the folder of the chart`:           {member("../evil")},
		`"web/../../evil" is outside of the folder of the chart`:    {member("web/../../evil")},
		`"web\\..\\..\\evil" is outside of the folder of the chart`: {member(`web\..\..\evil`)},
		`"/etc/passwd" is outside of the folder of the chart`:       {member("/etc/passwd")},
		`"C:/web/evil" is outside of the folder of the chart`:       {member("C:/web/evil")},
		"web/link is a link or a device, not a file":                {{Name: "web/link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}},
		"web/hard is a link or a device, not a file":                {{Name: "web/hard", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}},
		"the archive has several folders: web and other":            append(sound[:2:2], member("other/a")),
		"Chart.yaml is not in a folder":                             {member("Chart.yaml")},
		"web/values.yaml occurs twice":                              append(sound[:2:2], member("web/values.yaml")),
		"the unpacked chart is larger than 100 MiB":                 {large},
		"the archive is empty":                                      nil,
	} {
		zeros := strings.Repeat("\x00", int(large.Size))
		content := archive(t, members, func(name string) string {
			if name == large.Name {
				return zeros
			}
			return ""
		})
		file := filepath.Join(write(t, map[string]string{"web.tgz": string(content)}), "web.tgz")
		_, err := chart.Fetcher{}.Fetch(t.Context(), chart.Source{Chart: file})
		if err == nil || !strings.HasPrefix(err.Error(), file+": ") || !strings.Contains(err.Error(), strings.TrimPrefix(want, "web/values.yaml ")) || fault.Code(err) != fault.CodeUsage {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	whole := pack(t, "web", web("1.0.0"))
	file := filepath.Join(write(t, map[string]string{"web.tgz": string(whole[:len(whole)/2])}), "web.tgz")
	if _, err := (chart.Fetcher{}).Fetch(t.Context(), chart.Source{Chart: file}); err == nil || !strings.Contains(err.Error(), "the archive is damaged") {
		t.Error(err)
	}
}

// depends returns Chart.yaml of a chart with dependencies.
func depends(name, version string, dependencies ...string) string {
	var text strings.Builder
	text.WriteString("apiVersion: v2\nname: " + name + "\nversion: " + version + "\ndependencies:\n")
	for _, d := range dependencies {
		text.WriteString("- " + d + "\n")
	}
	return text.String()
}

func TestFetchDependencies(t *testing.T) {
	t.Parallel()
	repository := serve(t)
	dir := write(t, map[string]string{
		"app/Chart.yaml":  depends("app", "1.0.0", "{name: web, version: ^1, repository: '@acme'}", "{name: lib, version: 0.1.0, repository: 'file://../lib'}"),
		"app/Chart.lock":  "dependencies:\n- {name: web, version: 1.9.0, repository: '@acme'}\ndigest: sha256:0\ngenerated: 2030-01-01T00:00:00Z\n",
		"lib/Chart.yaml":  depends("lib", "0.1.0", "{name: web, version: 1.0.0, repository: "+repository+"}"),
		"lib/values.yaml": "a: 1\n",
	})
	fetched, err := fetcher(t, repository).Fetch(t.Context(), chart.Source{Chart: filepath.Join(dir, "app")})
	if err != nil {
		t.Fatal(err)
	}
	got := slices.DeleteFunc(slices.Sorted(maps.Keys(fetched.Files)), func(name string) bool { return strings.Contains(name, "templates/") })
	want := []string{"Chart.lock", "Chart.yaml", "charts/lib/Chart.yaml", "charts/lib/charts/web/Chart.yaml", "charts/lib/charts/web/values.yaml", "charts/lib/values.yaml", "charts/web/Chart.yaml", "charts/web/values.yaml"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if version := string(fetched.Files["charts/web/Chart.yaml"]); !strings.Contains(version, "1.9.0") {
		t.Errorf("not the locked version: %s", version)
	}
}

func TestDependencyErrors(t *testing.T) {
	t.Parallel()
	acme := serve(t)
	for want, files := range map[string]map[string]string{
		"app/Chart.yaml:5: dependency web: it is not in charts/, and has no repository":  {"app/Chart.yaml": depends("app", "1.0.0", "{name: web, version: 1.0.0}")},
		"app/Chart.yaml:5: dependency web: there is no repository other in ":             {"app/Chart.yaml": depends("app", "1.0.0", "{name: web, version: 1.0.0, repository: '@other'}")},
		"app/Chart.yaml:5: dependency web: chart web has no version 9.0.0":               {"app/Chart.yaml": depends("app", "1.0.0", "{name: web, version: 9.0.0, repository: '@acme'}")},
		"app/Chart.yaml:5: dependency lib: there is no chart ":                           {"app/Chart.yaml": depends("app", "1.0.0", "{name: lib, version: 1.0.0, repository: 'file://../lib'}")},
		"lib/Chart.yaml:5: the dependencies are circular: app -> lib -> app":             {"app/Chart.yaml": depends("app", "1.0.0", "{name: lib, version: 1.0.0, repository: 'file://../lib'}"), "lib/Chart.yaml": depends("lib", "1.0.0", "{name: app, version: 1.0.0, repository: 'file://../app'}")},
		"app/Chart.yaml:5: dependency ../../..: the chart in ":                           {"app/Chart.yaml": depends("app", "1.0.0", "{name: ../../.., version: 1.0.0, repository: 'file://../lib'}"), "lib/Chart.yaml": "apiVersion: v2\nname: lib\nversion: 1.0.0\n"},
		"app/Chart.yaml:6: two versions of dependency lib":                               {"app/Chart.yaml": depends("app", "1.0.0", "{name: lib, version: 1.0.0, alias: one, repository: 'file://../lib'}", "{name: lib, version: 2.0.0, alias: two, repository: 'file://../lib2'}"), "lib/Chart.yaml": "apiVersion: v2\nname: lib\nversion: 1.0.0\n", "lib2/Chart.yaml": "apiVersion: v2\nname: lib\nversion: 2.0.0\n"},
		"app/Chart.yaml:5: the dependencies are circular: app -> app":                    {"app/Chart.yaml": depends("app", "1.0.0", "{name: app, version: '>0'}")},
		"app/charts/lib/Chart.yaml:5: the dependencies are circular: app -> lib -> app ": {"app/Chart.yaml": depends("app", "1.0.0", "{name: lib, version: 1.0.0}"), "app/charts/lib/Chart.yaml": depends("lib", "1.0.0", "{name: app, version: 1.0.0}")},
	} {
		dir := write(t, files)
		_, err := fetcher(t, acme).Fetch(t.Context(), chart.Source{Chart: filepath.Join(dir, "app")})
		if err == nil || !strings.HasPrefix(err.Error(), dir+"/"+strings.TrimSpace(want)) || strings.Contains(err.Error(), "\n") || fault.HintOf(err) == "" {
			t.Errorf("got  %v (hint %q)\nwant %s", err, fault.HintOf(err), want)
		}
	}
	wrapper := write(t, map[string]string{"Chart.yaml": depends("web", "0.1.0", "{name: web, version: 1.0.0}"), "charts/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n"})
	if _, err := (chart.Fetcher{}).Fetch(t.Context(), chart.Source{Chart: wrapper}); err != nil {
		t.Errorf("a wrapper with the name of its dependency: %v", err)
	}
	bare, err := chart.Load(write(t, map[string]string{"Chart.yaml": depends("app", "1.0.0", "{name: web, version: 1.0.0}")}))
	if err != nil {
		t.Fatal(err)
	}
	if err := chart.CheckInstallable(bare); err == nil || err.Error() != "Chart.yaml:5: the dependency web 1.0.0 of app is missing in charts/" {
		t.Error(err)
	}
}

// TestCheckVersion checks the versions of Kubernetes that a chart allows.
func TestCheckVersion(t *testing.T) {
	t.Parallel()
	for allowed, ok := range map[string]bool{"": true, ">=1.20.0": true, "^1.30": true, ">= 1.20.0-0 < 2.0.0-0": true, "<1.30.0": false, "new": false} {
		c, err := chart.LoadFiles(map[string][]byte{"Chart.yaml": fmt.Appendf(nil, "apiVersion: v2\nname: web\nversion: 1.0.0\nkubeVersion: %q\n", allowed)})
		if err != nil {
			t.Fatal(err)
		}
		err = chart.CheckInstallable(c)
		if unreadable := allowed == "new"; (err != nil) != unreadable || err != nil && err.Error() != "Chart.yaml:4: kubeVersion \"new\" is not a range of versions, so Helm installs the chart nowhere" {
			t.Errorf("%s: %v", allowed, err)
		}
		if err := chart.CheckVersion(c, "v1.37.0"); (err == nil) != ok || err != nil && err.Error() != "Chart.yaml:4: the chart needs Kubernetes "+allowed+", and the cluster has v1.37.0" {
			t.Errorf("%s: %v", allowed, err)
		}
	}
}
