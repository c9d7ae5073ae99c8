package condition

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/answers"
	"github.com/operon-dev/operon/internal/testkit/servertest"
)

// expressions are valid expressions, and invalid ones with their first error.
var expressions = []struct{ text, want string }{
	{"true", ""},
	{"request.operation == 'CREATE'", ""},
	{"!(request.resource.group == 'coordination.k8s.io' && request.resource.resource == 'leases')", ""},
	{"!('system:nodes' in request.userInfo.groups)", ""},
	{"request.userInfo.extra['x'].exists(v, v.startsWith('a'))", ""},
	{"object.metadata.?labels['a'].orValue('') == 'b'", ""},
	{"has(object.spec) && object.spec.replicas > 1.5 && oldObject == null", ""},
	{"namespaceObject.metadata.labels['env'] == 'prod' && namespaceObject.metadata.namespace == ''", ""},
	{"authorizer.group('apps').resource('deployments').namespace('x').check('create').allowed()", ""},
	{"authorizer.group('').resource('pods').fieldSelector('spec.nodeName=x').check('list').allowed()", ""},
	{"authorizer.requestResource.check('breakglass').allowed()", ""},
	{"quantity('1Gi').isGreaterThan(quantity('1Mi')) && isURL('https://x') && isIP('1.2.3.4') && isCIDR('10.0.0.0/8')", ""},
	{"[1, 2].isSorted() && sets.contains([1], [1]) && [1, 2].sum() == 3 && 'a,b'.split(',').size() == 2 && [3, 1].sort() == [1, 3]", ""},
	{"semver('1.2.3').isLessThan(semver('2.0.0')) && !format.dns1123Label().validate('a').hasValue()", ""},
	{"{'a': 1}.all(k, v, k == 'a' && v == 1) && 'x-1'.find('[0-9]') == '1'", ""},
	{"request.options.dryRun == true || request.dryRun", ""},
	{"request.dryRun", ""},
	{"namespaceObject.metadata.generation > 1 ? true : false", ""},
	{"object.spec.map(k, k != 'a', 1).transformList(i, v, i + v).sortBy(e, e) == [] && object.?a.optMap(x, x > 1).orValue(true)", ""},
	{"type(object) == map && type(request.name) == string && ip.isCanonical('1.2.3.4') && .request.name == ''", ""},
	{"dyn(1) == 1.0 && timestamp('2026-01-01T00:00:00Z') < timestamp('2027-01-01T00:00:00Z')", ""},

	{"request.operation = 'CREATE'", "1:19 Syntax error"},
	{"request.operation == CREATE", "1:22 undeclared reference to 'CREATE'"},
	{"true &&\n  objct.spec", "2:3 undeclared reference to 'objct'"},
	{"request.verb == 'x'", "1:8 undefined field 'verb'"},
	{"request.userInfo.name == 'x'", "1:17 undefined field 'name'"},
	{"params.x", "1:1 undeclared reference to 'params'"},
	{"variables.x", "1:1 undeclared reference to 'variables'"},
	{"request.name", "0:0 the type of the expression is string, but must be bool"},
	{"object.spec.enabled", "0:0 the type of the expression is dyn, but must be bool"},
	{"request.userInfo.groups.admin", "1:24 type 'list' does not support field selection"},
	{"request.kind.kind.lower == 'x'", "1:18 type 'string' does not support field selection"},
	{"object.metadata.name.startWith('x')", "1:31 undeclared reference to 'startWith'"},
	{"sized(request.name) > 1", "1:6 undeclared reference to 'sized'"},
	{"object.spec.items.all(i, j.x)", "1:26 undeclared reference to 'j'"},
	{"object.spec.items.all(i.x, true)", "1:24 argument must be a simple name"},
	{"object.spec.items.exists(i, i.x) && i.y", "1:37 undeclared reference to 'i'"},
	{"has(request)", "1:5 invalid argument to has() macro"},
	{"[request.nme] == [] || {'a': objct} == {}", "1:9 undefined field 'nme'"},
	{"[1, 2]", "0:0 the type of the expression is list, but must be bool"},
	{"{'a': 1}", "0:0 the type of the expression is map, but must be bool"},
	{"1.5", "0:0 the type of the expression is double, but must be bool"},
	{"jsonpatch.escapeKey('a') == 'a'", "1:1 undeclared reference to 'jsonpatch'"},
	{"request.namespaceObject == null", "1:8 undefined field 'namespaceObject'"},
	{"   ", "0:0 the expression is empty"},
	{"(", "1:2 Syntax error"},
}

// TestCheck checks the first error of each expression.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tc := range expressions {
		var messages strings.Builder
		for _, f := range Check(tc.text) {
			fmt.Fprintf(&messages, "%d:%d %s\n", f.Line, f.Column, f.Message)
		}
		got := messages.String()
		if tc.want == "" && got != "" || !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s\ngot  %s\nwant %s", tc.text, got, tc.want)
		}
	}
}

// TestServer registers webhooks with the same expressions, and with each known function.
func TestServer(t *testing.T) {
	t.Parallel()
	var asked []string
	for _, tc := range expressions {
		asked = append(asked, tc.text)
	}
	for _, name := range functions {
		asked = append(asked, name+"() || object."+name+"()")
	}
	requests := []string{webhooks}
	for _, expression := range asked {
		requests = append(requests, webhook(t, expression))
	}
	server := answers.Ask(t, "expressions", servertest.Question(requests...), func() []answer { return register(t, asked) })
	for i, tc := range expressions {
		if a := server[i]; (a.Code == http.StatusCreated) != (len(Check(tc.text)) == 0) {
			t.Errorf("%s\nour errors: %v\nthe response of the API server has code %d", tc.text, Check(tc.text), a.Code)
		}
	}
	for i, name := range functions {
		if server[len(expressions)+i].Unknown {
			t.Errorf("the API server does not know the function %s", name)
		}
	}
}

// answer is the answer of an API server to a request.
type answer struct {
	Code    int
	Unknown bool // the first function of the expression
}

// webhooks is the path of a request that validates a webhook and stores nothing.
const webhooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?dryRun=All"

// webhook returns a webhook with an expression.
func webhook(t *testing.T, expression string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": map[string]any{"name": "x"},
		"webhooks": []any{map[string]any{
			"name": "a.b.c", "sideEffects": "None", "admissionReviewVersions": []string{"v1"}, "clientConfig": map[string]any{"url": "https://example.org"},
			"matchConditions": []any{map[string]any{"name": "x", "expression": expression}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// register starts an API server and registers a webhook with each of the expressions.
func register(t *testing.T, expressions []string) (all []answer) {
	t.Helper()
	server := servertest.Start(t)
	for _, expression := range expressions {
		code, response, err := server.Request(http.MethodPost, webhooks, webhook(t, expression))
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(expression, "(")
		unknown := bytes.Contains(response, []byte("undeclared reference to '"+name+"'")) && !bytes.Contains(response, []byte("no matching overload"))
		all = append(all, answer{code, unknown})
	}
	return all
}
