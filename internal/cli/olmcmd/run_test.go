package olmcmd

import (
	"bytes"
	"testing"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/olm/cluster"
)

// TestLocal expects that the catalog listens on one address, unless the user names another machine's.
func TestLocal(t *testing.T) {
	t.Parallel()
	if got, want := local("", "192.0.2.7", ""), (cluster.Local{Address: "192.0.2.7", Listen: "192.0.2.7"}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := local("gateway.example.org", "gateway.example.org", ""), (cluster.Local{Address: "gateway.example.org"}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestPrintStatus expects a table of what OLM manages on stdout, and the reason of a failure on stderr.
func TestPrintStatus(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	a := &command.App{Out: &out, Err: &errs}
	items := []cluster.Item{
		{Name: "olm-operator", Namespace: "olm", Kind: "Deployment", Status: "1/1 ready"},
		{Name: "fleet.v0.1.0", Namespace: "ships", Kind: "ClusterServiceVersion", Version: "0.1.0", Status: "Failed", Message: "no permission"},
		{Name: "group", Namespace: "ships", Kind: "OperatorGroup"},
	}
	if err := printStatus(a, items, command.FormatText); err != nil {
		t.Fatal(err)
	}
	const want = `NAME          NAMESPACE  KIND                   VERSION  STATUS
olm-operator  olm        Deployment             -        1/1 ready
fleet.v0.1.0  ships      ClusterServiceVersion  0.1.0    Failed
group         ships      OperatorGroup          -        -
`
	if out.String() != want || errs.String() != "ClusterServiceVersion fleet.v0.1.0: no permission\n" {
		t.Errorf("stdout:\n%sstderr:\n%s", out.String(), errs.String())
	}
}
