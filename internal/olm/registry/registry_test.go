package registry

import (
	"encoding/base64"
	"net"
	"strings"
	"testing"

	"github.com/operator-framework/operator-registry/pkg/api"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// catalog is a catalog with one bundle, which has its manifests in properties.
var catalog = strings.NewReplacer("CSV", encoded(`{"kind":"ClusterServiceVersion"}`), "MAP", encoded(`{"kind":"ConfigMap"}`)).Replace(`
{"schema": "olm.package", "name": "fleet", "defaultChannel": "stable"}
{"schema": "olm.channel", "package": "fleet", "name": "stable", "entries": [{"name": "fleet.v0.2.0", "replaces": "fleet.v0.1.0"}]}
{"schema": "olm.bundle", "package": "fleet", "name": "fleet.v0.2.0", "properties": [
  {"type": "olm.package", "value": {"packageName": "fleet", "version": "0.2.0"}},
  {"type": "olm.package.required", "value": {"packageName": "harbor", "versionRange": ">=1.0.0"}},
  {"type": "olm.bundle.object", "value": {"data": "CSV"}},
  {"type": "olm.bundle.object", "value": {"data": "MAP"}}
]}
`)

func encoded(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// TestServe calls the methods that OLM calls. That OLM understands the answers shows internal/acceptance/olm.
func TestServe(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop, err := Serve(l, []byte(catalog))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{}); err != nil {
		t.Error(err)
	}
	c := api.NewRegistryClient(conn)
	names, err := c.ListPackages(ctx, &api.ListPackageRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if name, err := names.Recv(); err != nil || name.GetName() != "fleet" {
		t.Errorf("package %v, %v", name, err)
	}
	pkg, err := c.GetPackage(ctx, &api.GetPackageRequest{Name: "fleet"})
	if err != nil || pkg.GetDefaultChannelName() != "stable" || len(pkg.GetChannels()) != 1 || pkg.GetChannels()[0].GetCsvName() != "fleet.v0.2.0" {
		t.Errorf("package %v, %v", pkg, err)
	}
	bundles, err := c.ListBundles(ctx, &api.ListBundlesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	listed, err := bundles.Recv()
	checkBundle(t, "ListBundles", listed, err)
	got, err := c.GetBundle(ctx, &api.GetBundleRequest{PkgName: "fleet", ChannelName: "stable", CsvName: "fleet.v0.2.0"})
	checkBundle(t, "GetBundle", got, err)
	got, err = c.GetBundleForChannel(ctx, &api.GetBundleInChannelRequest{PkgName: "fleet", ChannelName: "stable"}) //nolint:staticcheck // OLM calls it
	checkBundle(t, "GetBundleForChannel", got, err)
	for want, call := range map[string]func() error{
		"package harbor": func() error { _, err := c.GetPackage(ctx, &api.GetPackageRequest{Name: "harbor"}); return err },
		"channel alpha of package fleet": func() error {
			_, err := c.GetBundle(ctx, &api.GetBundleRequest{PkgName: "fleet", ChannelName: "alpha"})
			return err
		},
		"bundle fleet.v0.1.0": func() error {
			_, err := c.GetBundle(ctx, &api.GetBundleRequest{PkgName: "fleet", ChannelName: "stable", CsvName: "fleet.v0.1.0"})
			return err
		},
	} {
		if err := call(); status.Code(err) != codes.NotFound || status.Convert(err).Message() != "the catalog does not have "+want {
			t.Errorf("error %v, want one about %s", err, want)
		}
	}
}

func checkBundle(t *testing.T, method string, b *api.Bundle, err error) {
	t.Helper()
	if err != nil || b.GetCsvName() != "fleet.v0.2.0" || b.GetVersion() != "0.2.0" || b.GetReplaces() != "fleet.v0.1.0" || len(b.GetDependencies()) != 1 ||
		b.GetCsvJson() != `{"kind":"ClusterServiceVersion"}` || len(b.GetObject()) != 2 {
		t.Errorf("%s: %v, %v", method, b, err)
	}
}

// TestInvalid expects an error about a catalog that OLM could not use.
func TestInvalid(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"{": "unexpected",
		`{"schema": "olm.package", "name": "fleet", "defaultChannel": "stable"}`: "fleet",
	} {
		if _, err := Serve(nil, []byte(content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", content, err, want)
		}
	}
}
