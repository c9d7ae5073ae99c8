package golang

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
)

// rescoped returns the event that makes the project namespaced, or that reverts this.
func (x tester) rescoped(namespaced bool) plugin.Event {
	before := *x.cfg
	x.cfg.Namespaced = namespaced
	return plugin.Event{Type: plugin.Edit, Before: &before}
}

// TestRescopeMainAndBack checks that the limit of the manager uses the names in the user's
// main.go, and that removing it restores the file.
func TestRescopeMainAndBack(t *testing.T) {
	t.Parallel()
	imported := func(lines, use string) func(string) string {
		return strings.NewReplacer("\t\"os\"\n", "\t\"os\"\n"+lines, "func main() {\n", use+"\n\nfunc main() {\n").Replace
	}
	for name, c := range map[string]struct {
		edit func(string) string
		want []string
	}{
		"unchanged": {func(s string) string { return s }, []string{"map[string]cache.Config{}"}},
		"imports by other names": {imported("\ttext \"strings\"\n", "var _ = text.ToUpper"),
			[]string{"text.SplitSeq(os.Getenv(", "text.TrimSpace("}},
		"another package with the name cache": {func(s string) string {
			s = strings.NewReplacer("\t\"sigs.k8s.io/controller-runtime/pkg/cache\"", "\tclientcache \"sigs.k8s.io/controller-runtime/pkg/cache\"", "cache.", "clientcache.").Replace(s)
			return imported("\t\"example.org/lib/cache\"\n", "var _ = cache.New")(s)
		}, []string{"map[string]clientcache.Config{}", "= clientcache.Config{}"}},
		"CRLF": {func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }, []string{"map[string]cache.Config{}\r\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := initialized(t, nil)
			src := c.edit(x.read(project.MainFile))
			x.write(project.MainFile, src)
			x.apply(x.rescoped(true))
			x.contains(project.MainFile, append(c.want, "= watchedNamespaces()", "managerOptions.Cache.DefaultNamespaces = namespaces")...)
			x.apply(x.rescoped(false))
			if diff := cmp.Diff(src, x.read(project.MainFile)); diff != "" {
				t.Errorf("after enabling and disabling (-before +after):\n%s", diff)
			}
		})
	}
}
