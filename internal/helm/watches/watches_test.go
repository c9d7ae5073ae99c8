package watches

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// complete has all options of a watch.
const complete = `# Which chart is installed for which kind.
- group: ship.example.org
  version: v1alpha1
  kind: Galley # rowed
  chart: helm-charts/galley
  watchDependentResources: false
  overrideValues:
    image.tag: $TAG
    replicas: '{{ "2" | quote }}'
  selector:
    matchLabels:
      fleet: west
    matchExpressions:
    - {key: tier, operator: In, values: [gold]}
  reconcilePeriod: 90s
  maxConcurrentReconciles: 4
  dryRunOption: server
- group: ship.example.org
  version: v1
  kind: Frigate
  chart: /opt/helm/helm-charts/frigate
# +kubebuilder:scaffold:watch
`

func isChart(folder string) bool { return strings.HasPrefix(folder, "helm-charts/") }

func TestRead(t *testing.T) {
	t.Parallel()
	list, err := Read([]byte(complete), isChart)
	if err != nil {
		t.Fatal(err)
	}
	no := false
	want := []Watch{{
		Group: "ship.example.org", Version: "v1alpha1", Kind: "Galley", Chart: "helm-charts/galley",
		WatchDependentResources: &no, OverrideValues: map[string]string{"image.tag": "$TAG", "replicas": `{{ "2" | quote }}`},
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"fleet": "west"},
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "In", Values: []string{"gold"}}}},
		ReconcilePeriod: "90s", MaxConcurrentReconciles: 4, DryRunOption: "server", Line: 2,
	}, {Group: "ship.example.org", Version: "v1", Kind: "Frigate", Chart: "helm-charts/frigate", Line: 18}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	for _, empty := range []string{"", "# none yet\n", "[]\n", "---\n"} {
		if list, err := Read([]byte(empty), isChart); err != nil || len(list) > 0 {
			t.Errorf("%q: %v, %v", empty, list, err)
		}
	}
}

// TestReadErrors checks the position, the message and the hint for invalid files.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	const galley = "- group: ship.example.org\n  version: v1\n  kind: Galley\n  chart: helm-charts/galley\n"
	for _, tc := range []struct{ src, want, hint string }{
		{"a: b\n", "watches.yaml:1:1: the file is not a list of watches", "write entries that start with: - group: ..."},
		{"- a\n", "watches.yaml:1:3: the watch is not a mapping", "write the keys group, version, kind and chart"},
		{"- a: [\n", "watches.yaml:1:1: did not find", ""},
		{galley + "---\n[]\n", "watches.yaml:5:1: the file has several documents", "keep one document"},
		{galley + "  overideValues: {}\n", "watches.yaml:5:3: unknown key overideValues", "did you mean overrideValues?"},
		{galley + "  colour: red\n", "watches.yaml:5:3: unknown key colour", "valid keys: group, version"},
		{galley + "  kind: Frigate\n", "watches.yaml:5:3: the key kind occurs twice", "keep one of the two"},
		{galley + galley, "watches.yaml:5:3: ship.example.org/v1, Kind=Galley is also in line 1", "keep one of them"},
		{strings.Replace(galley, "  version: v1\n", "", 1), "watches.yaml:1:3: the watch has no version", "add the key version"},
		{strings.Replace(galley, "v1", "1", 1), "watches.yaml:2:12: version is not a string", "in quotes"},
		{strings.Replace(galley, "helm-charts/galley", "../galley", 1), "watches.yaml:4:10: the chart ../galley is outside of the project", "helm-charts"},
		{strings.Replace(galley, "helm-charts/galley", "charts/galley", 1), "watches.yaml:4:10: charts/galley has no Chart.yaml", "restore the chart"},
		{galley + "  watchDependentResources: sometimes\n", "watches.yaml:5:28: watchDependentResources is not true or false", ""},
		{galley + "  watchDependentResources: 'yes'\n", "watches.yaml:5:28: watchDependentResources is not true or false", ""},
		{galley + "  maxConcurrentReconciles: '2'\n", "watches.yaml:5:28: maxConcurrentReconciles is not a positive number", ""},
		{galley + "  selector: {matchLabels: {a: [5]}}\n", "watches.yaml:5:31: selector.matchLabels.a is not a string", "in quotes"},
		{galley + "  selector: {matchLabels: a}\n", "watches.yaml:5:27: selector.matchLabels is not a mapping", "fleet: west"},
		{galley + "  selector: {matchExpressions: [{key: a, operator: In, value: [b]}]}\n", "watches.yaml:5:56: unknown key selector.matchExpressions.value", "did you mean values?"},
		{galley + "  selector: {matchExpressions: [{key: a, operator: In, values: [{}]}]}\n", "watches.yaml:5:65: selector.matchExpressions.values is not a string", "in quotes"},
		{galley + "  reconcilePeriod: 5\n", "watches.yaml:5:20: reconcilePeriod is not a string", ""},
		{galley + "  reconcilePeriod: often\n", "watches.yaml:5:20: reconcilePeriod is \"often\"", "1m"},
		{galley + "  maxConcurrentReconciles: 0\n", "watches.yaml:5:28: maxConcurrentReconciles is 0", "positive"},
		{galley + "  dryRunOption: sever\n", "watches.yaml:5:17: dryRunOption is \"sever\"", "none, client, server"},
		{galley + "  overrideValues: {debug: {a: b}}\n", "watches.yaml:5:27: overrideValues.debug is not a string", "in quotes"},
		{galley + "  overrideValues:\n    debug: [a]\n", "watches.yaml:6:12: overrideValues.debug is not a string", "in quotes"},
		{galley + "  overrideValues: {tag: '{{ .x'}\n", "watches.yaml:5:25: overrideValues.tag: ", "correct the template"},
		{galley + "  overrideValues: {'hosts[x]': a}\n", "watches.yaml:5:20: overrideValues: \"hosts[x]\" does not name a value: ", "image.tag"},
		{galley + "  overrideValues: {'a,b': $TAG}\n", "watches.yaml:5:20: overrideValues: \"a,b\" does not name a value: ", "image.tag"},
		{galley + "  overrideValues: [a]\n", "watches.yaml:5:19: overrideValues is not a mapping", ""},
		{galley + "  selector: {matchLabel: {a: b}}\n", "watches.yaml:5:14: unknown key selector.matchLabel", "did you mean matchLabels?"},
		{galley + "  selector: {matchExpressions: [{key: a, operator: Is}]}\n", "watches.yaml:5:13: selector: \"Is\" is not a valid label selector operator", ""},
	} {
		_, err := Read([]byte(tc.src), isChart)
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) || !strings.Contains(fault.HintOf(err), tc.hint) || fault.Code(err) != fault.CodeUsage {
			t.Errorf("%s\nerror %v\nhint %s\nwant %s", tc.src, err, fault.HintOf(err), tc.want)
		}
	}
}

// TestConverted compares how operon and the library of helm-operator read values that are no texts.
func TestConverted(t *testing.T) {
	t.Parallel()
	const watch = "- group: a.b\n  version: v1\n  kind: C\n  chart: helm-charts/galley\n  overrideValues:\n    image.tag: "
	for value, warns := range map[string]bool{
		"false": false, "2": false, "1.5": false, "$TAG": false, "-3": false, "2026-01-02": false, "a b": false, "'1.10'": false, "!!str 1.10": false,
		"|\n      1.10": false, "1.10": true, "yes": true, "0x10": true, "0644": true, "1e3": true, "null": true, "~": true, "True": true, "10000000": false,
	} {
		var theirs []struct{ OverrideValues map[string]string }
		if err := yaml.Unmarshal([]byte(watch+value+"\n"), &theirs); err != nil {
			t.Fatal(err)
		}
		list, findings, err := Validate([]byte(watch+value+"\n"), isChart)
		if err != nil || len(list) != 1 || list[0].OverrideValues["image.tag"] != theirs[0].OverrideValues["image.tag"] {
			t.Errorf("%s: %v, %v; want %v", value, list, err, theirs)
		}
		if got := len(findings) == 1 && findings[0].Rule == ruleText.Name; got != warns || !warns && len(findings) > 0 {
			t.Errorf("%s: %v, want a warning: %v", value, findings, warns)
		}
	}
}

// TestAdd checks that an entry goes above the scaffold comment, and that all other lines stay.
func TestAdd(t *testing.T) {
	t.Parallel()
	w := Watch{Group: "ship.example.org", Version: "v1", Kind: "Barge", Chart: "helm-charts/barge"}
	const lines = "- group: ship.example.org\n  version: v1\n  kind: Barge\n  chart: helm-charts/barge\n"
	for _, tc := range []struct{ src, want string }{
		{complete, strings.Replace(complete, "# +kubebuilder", lines+"# +kubebuilder", 1)},
		{"", lines},
		{"# Watches.\n#+kubebuilder:scaffold:watch\n", "# Watches.\n" + lines + "#+kubebuilder:scaffold:watch\n"},
		{"[]\n", lines},
		{lines, lines},
		{"- {group: a.b, version: v1, kind: C, chart: helm-charts/c}", "- {group: a.b, version: v1, kind: C, chart: helm-charts/c}\n" + lines},
		{"  - group: a.b\n    version: v1\n    kind: C\n    chart: c\n", "  - group: a.b\n    version: v1\n    kind: C\n    chart: c\n  " + strings.ReplaceAll(strings.TrimSuffix(lines, "\n"), "\n", "\n  ") + "\n"},
		{"# a\r\n", "# a\r\n" + strings.ReplaceAll(lines, "\n", "\r\n")},
	} {
		got, err := Add([]byte(tc.src), w)
		if err != nil {
			t.Errorf("%s: %v", tc.src, err)
		}
		if diff := cmp.Diff(tc.want, string(got)); diff != "" {
			t.Errorf("%s: %s", tc.src, diff)
		}
		again, err := Add(got, w)
		if err != nil || string(again) != string(got) {
			t.Errorf("%s: the second time: %v\n%s", tc.src, err, again)
		}
	}
	_, err := Add([]byte("[{group: a.b, version: v1, kind: C, chart: c}]\n"), w)
	if err == nil || !strings.Contains(fault.HintOf(err), lines) {
		t.Errorf("a list in brackets: %v, %s", err, fault.HintOf(err))
	}
}

// TestFormat checks that an entry with all options is the same after it is written and read.
func TestFormat(t *testing.T) {
	t.Parallel()
	list, err := Read([]byte(complete), isChart)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range list {
		text, err := formatEntry(w)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Read([]byte(text), isChart)
		if err != nil {
			t.Fatal(fmt.Errorf("%w\n%s", err, text))
		}
		w.Line = 1
		if diff := cmp.Diff([]Watch{w}, got); diff != "" {
			t.Error(diff)
		}
	}
}

// TestOverrides checks that values that depend on the environment of the operator are left out.
func TestOverrides(t *testing.T) {
	t.Parallel()
	w := Watch{OverrideValues: map[string]string{"image.tag": "$TAG", "ingress.enabled": "true", "hosts[0]": "a", "name": `{{ "x" }}`}}
	want := map[string]any{"ingress": map[string]any{"enabled": true}, "hosts": []any{"a"}}
	if diff := cmp.Diff(want, w.Overrides(false)); diff != "" {
		t.Error(diff)
	}
	want["ingress"] = map[string]any{"enabled": "true"}
	if diff := cmp.Diff(want, w.Overrides(true)); diff != "" {
		t.Errorf("as texts:\n%s", diff)
	}
}
