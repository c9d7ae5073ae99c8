package chart

import (
	"context"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"sigs.k8s.io/yaml"
)

// repository is an entry of Helm's repositories.yaml. Helm's own package repo would link
// clients for registries, OpenPGP and Kubernetes.
type repository struct {
	Name                  string `json:"name"`
	URL                   string `json:"url"`
	Username              string `json:"username"`
	Password              string `json:"password"`
	CAFile                string `json:"caFile"`
	CertFile              string `json:"certFile"`
	KeyFile               string `json:"keyFile"`
	InsecureSkipTLSVerify bool   `json:"insecure_skip_tls_verify"`
	PassCredentialsAll    bool   `json:"pass_credentials_all"`
}

// sends reports whether the credentials of the repository are for a URL.
func (r repository) sends(to *url.URL) bool {
	own, err := url.Parse(r.URL)
	return r.PassCredentialsAll || err == nil && own.Scheme == to.Scheme && own.Host == to.Host
}

// index is the part of a repository's index.yaml that Fetch reads.
type index struct {
	Entries map[string][]indexEntry `json:"entries"`
}

type indexEntry struct {
	Version string   `json:"version"`
	URLs    []string `json:"urls"`
	Digest  string   `json:"digest"`
}

// configured returns a repository that helm repo add has added.
func (f Fetcher) configured(name string) (repository, error) {
	all, file, err := f.repositories()
	if err != nil {
		return repository{}, err
	}
	for _, r := range all {
		if r.Name == name {
			return r, nil
		}
	}
	return repository{}, fault.Usage("add it with helm repo add "+name+" URL, or name a folder or an archive that exists", "there is no repository %s in %s, and no such file", name, file)
}

func (f Fetcher) repositories() (all []repository, file string, err error) {
	file = f.repositoriesFile()
	content, err := input.ReadFile(file, input.Text)
	if os.IsNotExist(err) {
		return nil, file, nil
	}
	if err != nil {
		return nil, file, fault.Failed("check the file", "cannot read %s: %v", file, fault.Reason(err))
	}
	var list struct {
		Repositories []repository `json:"repositories"`
	}
	if err := yaml.Unmarshal(content, &list); err != nil {
		return nil, file, fault.Usage("correct the file, or add the repository with helm repo add", "%s: %s", file, strings.ReplaceAll(err.Error(), "\n", " "))
	}
	return list.Repositories, file, nil
}

// repositoriesFile returns the path of Helm's repositories.yaml.
func (f Fetcher) repositoriesFile() string {
	get := f.Getenv
	if get == nil {
		get = os.Getenv
	}
	const name = "repositories.yaml"
	if file := get("HELM_REPOSITORY_CONFIG"); file != "" {
		return file
	}
	if folder := get("HELM_CONFIG_HOME"); folder != "" {
		return filepath.Join(folder, name)
	}
	if folder := get("XDG_CONFIG_HOME"); folder != "" {
		return filepath.Join(folder, "helm", name)
	}
	switch runtime.GOOS {
	case "windows":
		return filepath.Join(get("APPDATA"), "helm", name)
	case "darwin":
		return filepath.Join(get("HOME"), "Library", "Preferences", "helm", name)
	}
	return filepath.Join(get("HOME"), ".config", "helm", name)
}

// fromRepository downloads a chart that the index of a repository lists.
func (f Fetcher) fromRepository(ctx context.Context, r repository, name, version string) (*Fetched, error) {
	if strings.HasPrefix(r.URL, "oci://") {
		return f.fromRegistry(ctx, strings.TrimSuffix(r.URL, "/")+"/"+name, version)
	}
	base := strings.TrimSuffix(r.URL, "/") + "/"
	content, err := r.get(ctx, base+"index.yaml", maxIndex)
	if err != nil {
		return nil, err
	}
	shown := redacted(base) + "index.yaml"
	var all index
	if err := yaml.Unmarshal(content, &all); err != nil || all.Entries == nil {
		return nil, fault.Failed("check the URL of the repository", "%s is not the index of a chart repository", shown)
	}
	entries := all.Entries[name]
	if len(entries) == 0 {
		return nil, fault.Usage("use one of: "+someOf(slices.Sorted(maps.Keys(all.Entries))), "%s has no chart %s", redacted(r.URL), name)
	}
	var versions []string
	for _, entry := range entries {
		versions = append(versions, entry.Version)
	}
	chosen, err := choose(name, version, versions)
	if err != nil {
		return nil, err
	}
	entry := entries[slices.Index(versions, chosen)]
	if len(entry.URLs) == 0 {
		return nil, fault.Failed("ask who runs the repository", "%s has no URL for %s %s", shown, name, chosen)
	}
	from, err := url.Parse(base)
	if err != nil {
		return nil, fault.Usage("check the URL of the repository", "%s is not a URL", redacted(r.URL))
	}
	address, err := from.Parse(entry.URLs[0])
	if err != nil {
		return nil, fault.Failed("ask who runs the repository", "%s: %q is not a URL", shown, entry.URLs[0])
	}
	if address.Scheme == "oci" {
		return f.fromRegistry(ctx, address.String(), chosen)
	}
	if address.Host == from.Host && address.User == nil {
		address.User = from.User
	}
	return r.archive(ctx, address.String(), entry.Digest)
}

// choose returns the newest of versions that satisfies a constraint. Without one, or with a
// constraint that does not name a pre-release, pre-releases do not count.
func choose(name, constraint string, versions []string) (string, error) {
	if slices.Contains(versions, constraint) {
		return constraint, nil
	}
	wanted := constraint
	if wanted == "" {
		wanted = "*"
	}
	allowed, err := semver.NewConstraint(wanted)
	if err != nil {
		return "", fault.Usage("use a version such as 1.2.3 or a constraint such as ~1.2", "%q is not a version", constraint)
	}
	var newest *semver.Version
	chosen := ""
	for _, text := range versions {
		if v, err := semver.NewVersion(text); err == nil && allowed.Check(v) && (newest == nil || v.GreaterThan(newest)) {
			newest, chosen = v, text
		}
	}
	switch {
	case chosen == "" && constraint == "":
		return "", fault.Usage("name one of: "+someOf(versions), "chart %s has no release", name)
	case chosen == "":
		return "", fault.Usage("use one of: "+someOf(versions), "chart %s has no version %s", name, constraint)
	}
	return chosen, nil
}

// someOf returns the first of many names for a hint.
func someOf(names []string) string {
	const most = 8
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}
