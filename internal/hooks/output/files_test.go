package output

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

var validPatches = []string{
	`{"operation": "Create", "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "y"}, "data": {"k": "v"}}}`,
	`{"operation": "CreateOrUpdate", "object": {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x", "namespace": "y"}, "spec": {"replicas": 1, "paused": true}}}`,
	`{"operation": "CreateIfNotExists", "object": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}"}`,
	`{"operation": "Delete", "apiVersion": "v1", "kind": "Pod", "namespace": "y", "name": "x"}`,
	`{"operation": "DeleteInBackground", "kind": "Pod", "name": "x", "subresource": "/status"}`,
	`{"operation": "DeleteNonCascading", "kind": "Pod", "name": "x"}`,
	`{"operation": "JQPatch", "kind": "Pod", "name": "x", "jqFilter": ".data.k = \"w\"", "ignoreMissingObject": true}`,
	`{"operation": "MergePatch", "kind": "Pod", "name": "x", "mergePatch": {"spec": {"n": 1}}, "subresource": "/status", "ignoreHookError": true}`,
	`{"operation": "MergePatch", "kind": "Pod", "name": "x", "mergePatch": "{\"spec\": {\"n\": 1}}"}`,
	`{"operation": "JSONPatch", "kind": "Pod", "name": "x", "jsonPatch": [{"op": "add", "path": "/a", "value": "b"}, {"op": "remove", "path": "/c"}]}`,
	`{"operation": "JSONPatch", "kind": "Pod", "name": "x", "jsonPatch": "[{\"op\": \"remove\", \"path\": \"/c\"}]"}`,
}

// unusualPatches are patch files with unusual syntax.
var unusualPatches = []string{
	"", " \n", "# nothing", "---\n---\n", "null", "[]", "{}", "x", "\xef\xbb\xbf" + validPatches[3], "--- \n" + validPatches[3],
	"operation: Delete\nkind: Pod\nname: 123", "operation: Delete\nkind: Pod\nname: yes", "operation: Delete\nkind: Pod\nname: null", `{"operation":"Delete","kind":"Pod","name":123}`,
	`{"OPERATION":"Delete","Kind":"Pod","nAME":"x"}`, "Operation: Delete\nKind: Pod\nName: x", "apiversion: v1\noperation: Delete\nkind: Pod\nname: x",
	"operation: Delete\nkind: Pod\nname: x\nname: y", `{"operation":"Delete","kind":"Pod","name":"x","name":"y"}`,
	"operation: Create\nobject: {1: x}", "operation: Create\nobject: {a: {true: x}}", "operation: MergePatch\nkind: Pod\nname: x\nmergePatch: {a: .inf}",
	"operation: Create\nobject: {apiVersion: v1, kind: X, metadata: {name: x}, at: 2020-01-01}", "operation: CreateOrUpdate\nobject: {apiVersion: v1, kind: X, metadata: {name: x}, at: 2020-01-01}",
	"operation: CreateOrUpdate\nobject: {apiVersion: v1, kind: X, metadata: {name: x}, n: 1}", "operation: CreateOrUpdate\nobject: {apiVersion: v1, kind: X, metadata: {name: x}, n: 1.5}",
	"operation: CreateOrUpdate\nobject: |\n  {apiVersion: v1, kind: X, metadata: {name: x}, n: 1}", "operation: CreateIfNotExists\nobject: {apiVersion: v1, kind: X, metadata: {name: x}, n: 1}",
	"a: &a {x: y}\noperation: MergePatch\nkind: Pod\nname: x\nmergePatch: *a", "operation: MergePatch\nkind: Pod\nname: x\nmergePatch: {<<: {a: b}}",
	"\toperation: Delete", "operation: Delete\n\tkind: Pod", "operation: [Delete]", "operation: Delete\nkind: Pod\nname: x\nignoreMissingObject: yes\n", "operation: Delete\nkind: Pod\nname: x\nignoreMissingObject: 'true'\n",
	validPatches[3] + "\n---\n" + validPatches[4], validPatches[3] + "," + validPatches[4], "[" + validPatches[3] + "]", validPatches[3] + "\n# more", validPatches[3] + "\x00",
	`{"operation":"Create","object":{}}`, `{"operation":"Create","object":""}`, `{"operation":"Create","object":null}`, `{"operation":"Create","object":[]}`, `{"operation":"Create","object":5}`,
	`{"operation":"Create","object":"null"}`, `{"operation":"Create","object":"[]"}`, `{"operation":"Create","object":"a: b: c"}`,
	`{"operation":"MergePatch","kind":"Pod","name":"x","mergePatch":""}`, `{"operation":"MergePatch","kind":"Pod","name":"x","mergePatch":"[]"}`, `{"operation":"MergePatch","kind":"Pod","name":"x","mergePatch":{}}`,
	`{"operation":"JSONPatch","kind":"Pod","name":"x","jsonPatch":[{"op":"remove","path":"/x"}]}`, `{"operation":"JSONPatch","kind":"Pod","name":"x","jsonPatch":[{"op":"add","path":"/x","value":null}]}`,
	`{"operation":"JSONPatch","kind":"Pod","name":"x","jsonPatch":[{"op":"","path":"/x","value":1}]}`, `{"operation":"JSONPatch","kind":"Pod","name":"x","jsonPatch":[{"op":"test","path":"","value":1}]}`,
	`{"operation":"JSONPatch","kind":"Pod","name":"x","jsonPatch":[{"op":"add","path":"/x","value":1},5]}`, `{"operation":"JSONPatch","kind":"Pod","name":"x","jsonPatch":[5]}`,
	`{"operation":"JSONPatch","kind":"Pod","name":"x","jsonPatch":[{"op":null,"path":"/x","value":1}]}`, `{"operation":"JSONPatch","kind":"Pod","name":"x","jsonPatch":[{"op":5,"path":"/x","value":1}]}`,
	`{"operation":"JQPatch","kind":"Pod","name":"x","jqFilter":""}`, `{"operation":"JQPatch","kind":"Pod","name":"x","jqFilter":"nope"}`, `{"operation":"JQPatch","kind":"Pod","name":"x","jqFilter":".a |"}`,
	`{"operation":"JQPatch","kind":"Pod","name":"x","jqFilter":"5"}`, `{"operation":"JQPatch","kind":"Pod","name":"x","jqFilter":"empty"}`, `{"operation":"JQPatch","kind":"Pod","name":"x","jqFilter":"error(1)"}`,
	`{"operation":"Delete","kind":"Pod","name":"x\ud800"}`, `{"operation":"Delete","kind":"Pod","name":"a` + "\n" + `b"}`, `{"operation":"Delete","kind":"Pod","name":"\q"}`, `{'operation':'Delete'}`, `{"operation":"Delete","kind":"Pod","name":"x",}`,
	`{operation: Delete, kind: Pod, name: x}`, `{"operation":"Delete","kind":"Pod","name":"x"} // comment`, `{"operation":"Delete","kind":"Pod","name":"x"`,
}

func patchFiles(t *testing.T) []string {
	t.Helper()
	texts := append(append([]string{}, validPatches...), unusualPatches...)
	return append(texts, generate(t, validPatches, 600, true)...)
}

var validMetrics = []string{
	`{"name": "a", "add": 1, "labels": {"k": "v"}}`, `{"name": "b", "set": 2.5}`, `{"name": "c", "action": "set", "value": 3, "group": "g"}`,
	`{"name": "d", "action": "add", "value": 1, "group": "g", "labels": {"x": ""}}`, `{"group": "g", "action": "expire"}`, `{"action": "expire"}`,
	`{"name": "h", "action": "observe", "value": 1, "buckets": [1, 2, 5]}`, `{"name": "s", "action": "set", "value": 1, "buckets": [1]}`,
}

func metricFiles(t *testing.T) []string {
	t.Helper()
	texts := append([]string{"", " ", "\n", "null", "[]", "x", "{}", `{"name":"a","set":1,"add":2}`, `{"name":"a","set":1,"add":2,"action":"set","value":5}`, `{"name":"a","action":"Set","value":1}`,
		`{"name":"a","set":"1"}`, `{"name":"a","set":1} {"name":"a","add":1}`, `{"NAME":"a","Set":1}`, `{"name":"","set":1}`, `{"name":"a","set":1,"labels":{"n":5}}`, `{"name":"a","set":1,"labels":null}`,
		`{"name":"a","set":NaN}`, `{"name":"a","set":01}`, `{"name":"a","set":1e999}`, `{"name":"a","action":"set"}`, `{"name":"a","group":"g"}`, `{"name":"a","set":null}`,
		"# comment\n" + `{"name":"a","set":1}`, `[{"name":"a","set":1}]`, `{"name":"a","set":1},{"name":"b","set":1}`}, validMetrics...)
	return append(texts, generate(t, validMetrics, 400, false)...)
}

var admissions = []string{
	`{"allowed": true}`, `{"allowed": false, "message": "no"}`, `{"allowed": true, "warnings": ["careful", "x"]}`, `{"allowed": true, "patch": "W3sib3AiOiJyZW1vdmUiLCJwYXRoIjoiL3gifV0="}`,
}

var conversions = []string{
	`{"failedMessage": "no"}`, `{"convertedObjects": [{"apiVersion": "a/v1", "kind": "X", "metadata": {"name": "x"}}]}`, `{"convertedObjects": [{"kind": "X"}, {"kind": "Y"}]}`, `{"convertedObjects": []}`,
}

func responseFiles(t *testing.T, valid []string) []string {
	t.Helper()
	texts := append([]string{" ", "null", "[]", "x", "{}", "true", `{"allowed":"true"}`, `{"ALLOWED":true}`, `{"allowed":true,"allowed":false}`, `{"allowed":true} x`, `{"allowed":true}{`, "allowed: true",
		`{"allowed":true,"patch":[{"op":"add"}]}`, `{"allowed":true,"patch":"not base64"}`, `{"allowed":true,"patch":""}`, `{"allowed":true,"patch":[1,2]}`, `{"allowed":true,"warnings":"x"}`, `{"allowed":1}`,
		`{"convertedObjects":[null]}`, `{"convertedObjects":[5]}`, `{"convertedObjects":null,"failedMessage":""}`, `{"convertedObjects":{}}`, `{"convertedObjects":["x"],"failedMessage":"y"}`}, valid...)
	return append(texts, generate(t, valid, 200, false)...)
}

// requests returns the requests that the engine sends to an API server that has all objects
// already, so that it cannot create them.
func requests(ops []Operation) any {
	var all []string
	for _, o := range ops {
		url := urlOf(o.APIVersion, o.Kind, o.Namespace, o.Name)
		send := func(method, subpath string, body any) {
			text, isString := body.(string)
			if !isString && body != nil {
				content, err := json.Marshal(body)
				if err != nil {
					return
				}
				text = string(content)
			}
			all = append(all, fmt.Sprintf("%s %s %s", method, path.Join(url, subpath), text))
		}
		switch {
		case o.Creates():
			m, _ := o.Manifest()
			url = urlOf(m.GetAPIVersion(), m.GetKind(), m.GetNamespace(), "")
			send("POST", "", m.Object)
			all[len(all)-1] += "\n"
			if o.Operation == "CreateOrUpdate" {
				url = path.Join(url, m.GetName())
				send("GET", "", nil)
				m.SetResourceVersion("7")
				send("PUT", "", m.Object)
				all[len(all)-1] += "\n"
			}
		case o.isDelete():
			policy := map[string]string{"Delete": "Foreground", "DeleteInBackground": "Background", "DeleteNonCascading": "Orphan"}[o.Operation]
			send("DELETE", "", fmt.Sprintf(`{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":%q}`, policy)+"\n")
			if o.Operation == "Delete" {
				send("GET", "", nil)
			}
		default:
			body, _ := o.Body()
			send("PATCH", o.Subresource, string(body))
		}
	}
	return all
}

func urlOf(apiVersion, kind, namespace, name string) string {
	gv, _ := schema.ParseGroupVersion(apiVersion)
	if gv.Version == "" {
		gv.Version = "v1"
	}
	root := "/apis/" + gv.Group + "/" + gv.Version
	if gv.Group == "" {
		root = "/api/" + gv.Version
	}
	if namespace != "" {
		root += "/namespaces/" + namespace
	}
	return path.Join(root, strings.ToLower(kind)+"s", name)
}
