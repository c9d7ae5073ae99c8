//go:build testall

package rbac

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// python runs python3, and fails a test if it is not installed.
func python(t testing.TB) PythonRunner {
	t.Helper()
	name, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal("hooks in Python need python3: ", err)
	}
	return func(program string, input []byte) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), name, "-I", "-S", "-c", program)
		cmd.Stdin = bytes.NewReader(input)
		return cmd.Output()
	}
}

// TestPythonFails fails instead of deriving roles without the hooks in Python.
func TestPythonFails(t *testing.T) {
	t.Parallel()
	in := Input{Kinds: table(t), Hooks: []Hook{{Source: Source{"hooks/a.py", []byte("run(['kubectl', 'get', 'pods'])")}}}}
	for name, tc := range map[string]struct {
		output string
		err    error
	}{"an error": {"", errors.New("killed")}, "no output": {"", nil}, "half an output": {`{"hooks/a.py":`, nil}} {
		in.Python = func(string, []byte) ([]byte, error) { return []byte(tc.output), tc.err }
		if r, err := Derive(in); err == nil || tc.err != nil && !errors.Is(err, tc.err) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	in.Python = func(string, []byte) ([]byte, error) { return nil, ErrNoPython }
	if r := derive(t, in); len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Message, ErrNoPython.Error()) {
		t.Errorf("no Python: %s", messages(r))
	}
}

// TestPythonByteOrderMark reads a file that starts with a byte order mark, as Python does.
func TestPythonByteOrderMark(t *testing.T) {
	t.Parallel()
	r := derive(t, Input{Kinds: table(t), Python: python(t), Hooks: []Hook{{Source: Source{"hooks/a.py", []byte("\ufeffrun(['kubectl', 'get', 'pods'])")}}}})
	check(t, r, "own: list /pods\n", "", "", "")
}

// TestPython reads patch operations and kubectl calls in Python hooks.
func TestPython(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ script, rules, finding string }{
		"operations": {`import json, os
KIND = "Secret"
ns = "a"
ns = "b"
def main(name):
    ops = [{"operation": "Delete", 'kind': KIND, "namespace": "web", "name": name},  # a comment, {
           {"operation": "MergePatch", "kind": "cm", "namespace": ns, "name": f"x-{name['a']}", "mergePatch": {"data": {k: v for k, v in d.items()}}}]
    with open(os.environ["KUBERNETES_PATCH_PATH"], "w") as f:
        json.dump({
            "operation": "CreateOrUpdate",
            "object": {"apiVersion": "v1", "kind": "ConfigMap",
                       "metadata": {"name": "x", "namespace": "web"}, "data": data(1, {"a": 2})},
        }, f)
`, "cluster: patch /configmaps\nin web: create /configmaps\nin web: get,update /configmaps x\nin web: delete,get /secrets\n", ""},
		"kubectl": {"subprocess.run([\"kubectl\", \"get\", \"pods\", \"-n\", ns])\nos.system('kubectl delete cm x')\nos.system(f\"kubectl -n web get svc {name}\")",
			"cluster: list /pods\nown: delete,get,list,watch /configmaps x\nin web: get /services\n", ""},
		"a marker at the head of a function": {"# +kubebuilder:rbac:groups=\"\",resources=pods,verbs=get\n@hook.main\ndef f():\n    x = 1\n    subprocess.run([\"kubectl\", \"get\", kind])\n\ndef g():\n    \"\"\"Gets.\"\"\"\n    # +kubebuilder:rbac:groups=\"\",resources=pods,verbs=get\n    x = 1\n    subprocess.run([\"kubectl\", \"get\", kind])\nsubprocess.run([\"kubectl\", \"get\", kind])",
			"cluster: get /pods\n", "13:16: " + notSeen + "kubectl get: the kind is known only at run time"},
		"a binding to a role": {"patch.create({\"apiVersion\": \"rbac.authorization.k8s.io/v1\", \"kind\": \"RoleBinding\", \"metadata\": {\"namespace\": \"web\"}, \"roleRef\": {\"kind\": \"ClusterRole\", \"name\": \"edit\"}})",
			"in web: create rbac.authorization.k8s.io/rolebindings\nin web: bind rbac.authorization.k8s.io/clusterroles edit\n", ""},
		"kubectl that is not known": {"subprocess.run([\"kubectl\", \"get\", kind])", "", "2:16: " + notSeen + "kubectl get: the kind is known only at run time"},
		"a client":                  {"if 1:\n  from kubernetes import client", "", "3:3: " + notSeen + "it uses the Kubernetes client kubernetes"},
		"a client and a marker":     {"# +kubebuilder:rbac:groups=\"\",resources=pods,verbs=get\nimport kubernetes", "cluster: get /pods\n", ""},
		"an operation from elsewhere": {"ops = make()\nopen(os.environ['KUBERNETES_PATCH_PATH'], 'w').write(ops)", "",
			"3:17: " + notSeen + "the source does not show the patch operations"},
		"operations that change": {"import os\nop = {'operation': 'Delete', 'kind': 'cm', 'namespace': 'web', 'name': 'x'}\nop['name'] = os.environ['X']\n",
			"in web: delete,get /configmaps\n", ""},
		"operations that a call changes": {"op = {'operation': 'Delete', 'kind': 'cm', 'namespace': 'web', 'name': 'x'}\nop.update(kind='Pod')\n",
			"", "2:6: " + notSeen + "the kind of Delete is known only at run time"},
		"operations from others": {"op = {'operation': 'Delete', 'kind': 'cm', 'namespace': 'web', 'name': 'x'}\nother = {**op, 'kind': 'Pod'}\nany = {**f(), 'operation': 'Delete', 'kind': 'Secret', 'name': 'y'}\n",
			"in web: delete,get /configmaps,pods x\n", "4:7: " + notSeen + "the kind of Delete is known only at run time"},
		"another operation": {"op = {'operation': 'Delete', 'kind': 'cm', 'namespace': 'web', 'name': 'x'}\nop['operation'] = 'MergePatch'\n",
			"", "2:6: " + notSeen + "the kind of Delete is known only at run time"},
		"an object from elsewhere": {"x = {'operation': 'Create', 'object': obj}", "", "2:5: " + notSeen + "the kind of Create is known only at run time"},
		"the library": {`API, KIND = "v1", "other"
SECRET = "Secret"
def main(ctx):
    wanted = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": ctx.object["metadata"]["namespace"]}}
    if not copy:
        ctx.patch.create_if_not_exists(wanted)
    ctx.patch.create_or_update({"apiVersion": "v1", "kind": SECRET, "metadata": {"name": "x", "namespace": "web"}})
    ctx.patch.delete("v1", SECRET, f"x-{ctx.event}", "web")
    ctx.patch.delete("v1", "Service", "x", operation="Delete", namespace="web")
    ctx.patch.merge("example.com/v1", "Tab", name, {"status": {"a": (1, 2)}}, subresource="/status", namespace="web")
    ctx.patch.jq(api_version="v1", kind="cm", name="y", jq_filter=".", namespace=ns)
    [ctx.patch.delete("v1", "Endpoints", n, "web", operation=how) for n in (ctx.results("a"))]
    mock.patch.dict({"a": 1})
`, "cluster: create /configmaps\ncluster: get,update /configmaps y\nin web: create,delete /secrets\nin web: delete,get /endpoints\nin web: get,update /secrets x\nin web: delete,get /services x\nin web: patch example.com/tabs/status\n", ""},
		"the library, with what is known only when it runs": {"def f(ctx, o):\n    ctx.patch.create_or_update(o)", "",
			"3:5: " + notSeen + "the kind of CreateOrUpdate is known only at run time"},
		"the library and a marker": {"def f(ctx, o):\n    # +kubebuilder:rbac:groups=\"\",resources=pods,verbs=create\n    ctx.patch.create(o)", "cluster: create /pods\n", ""},
		"text":                     {"'''\n# kubectl get pods\n{\"operation\": \"Delete\"}\n'''\n# kubectl get nodes", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := derive(t, Input{Kinds: table(t), Python: python(t), Hooks: []Hook{{Source: Source{"hooks/a.py", []byte("#!/usr/bin/env python3\n" + tc.script)}}}})
			check(t, r, tc.rules, "hooks/a.py:", tc.finding, " (rbac-unseen)")
		})
	}
}

// TestPythonCalls reads Python hooks that send requests to the API server.
func TestPythonCalls(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ script, rules, unseen string }{
		"a list":                     {`subprocess.run(["kubectl", "-n", "web", "get", "pods"], check=True)`, "in web: list /pods\n", ""},
		"a tuple":                    {`subprocess.run(("kubectl", "get", "pods"))`, "own: list /pods\n", ""},
		"arguments":                  {`await asyncio.create_subprocess_exec("kubectl", "get", "pods", stdout=PIPE)`, "own: list /pods\n", ""},
		"behind another program":     {`subprocess.run(["timeout", "5", "kubectl", "get", "pods"])`, "own: list /pods\n", ""},
		"a line":                     {`os.system("timeout 5 kubectl get pods | wc -l")`, "own: list /pods\n", ""},
		"a formatted line":           {`os.system("kubectl delete pod %s --wait=false" % name)`, "own: delete /pods\n", ""},
		"a line over lines":          {"run(\"kubectl delete pod x \"\n    \"-n web --wait=false\")", "in web: delete /pods x\n", ""},
		"a shell":                    {`subprocess.run(["sh", "-c", "kubectl get pods"])`, "own: list /pods\n", ""},
		"a list with more":           {`subprocess.run(["kubectl", "get"] + args)`, "", "2: kubectl: the arguments are known only at run time"},
		"a list that begins":         {`subprocess.run(["kubectl", *args])`, "", "2: kubectl: the arguments are known only at run time"},
		"a list alone":               {"KUBECTL = [\"kubectl\"]\nsubprocess.run(KUBECTL + args)", "", "2: kubectl: the arguments are known only at run time"},
		"a list that grows":          {"cmd = [\"kubectl\", \"get\", \"pods\"]\ncmd.extend([\"-n\", ns])", "", "2: kubectl: the arguments are known only at run time"},
		"a line with more":           {`os.system("kubectl get " + what)`, "", "2: kubectl: the arguments are known only at run time"},
		"oc":                         {`subprocess.run(["oc", "get", "pods"])`, "own: list /pods\n", ""},
		"bytes":                      {`run(b"kubectl get leases", shell=True)`, "own: list coordination.k8s.io/leases\n", ""},
		"a list of bytes":            {`run([b"kubectl", b"get", b"pods"])`, "own: list /pods\n", ""},
		"a printed list":             {`print(subprocess.check_output(["kubectl", "delete", "secrets", "x"]))`, "own: delete,get,list,watch /secrets x\n", ""},
		"a logged line":              {`logging.info(subprocess.run("kubectl delete svc y", shell=True))`, "own: delete,get,list,watch /services y\n", ""},
		"a list in a message":        {`print(f"got {run(['kubectl', 'get', 'pods'])}")`, "own: list /pods\n", ""},
		"a list behind a message":    {`print("got {}".format(run(["kubectl", "get", "pods"])))`, "own: list /pods\n", ""},
		"a logger from a call":       {`logger(run(["kubectl", "get", "pods"])).info("kubectl get nodes")`, "own: list /pods\n", ""},
		"messages":                   {`log.info("kubectl get {}".format(kind)); print("kubectl get %s" % kind, f"kubectl get {kind}", ["kubectl", "get", "pods"])`, "", ""},
		"talk":                       {"\"\"\"Does what kubectl does.\"\"\"\nif not shutil.which(\"kubectl\"): raise SystemExit(\"no kubectl here\")", "", ""},
		"the client":                 {"from kubernetes import client, config", "", "2: it uses the Kubernetes client kubernetes"},
		"the client among others":    {"def f():\n    import os, kubernetes", "", "3: it uses the Kubernetes client kubernetes"},
		"another client":             {"import lightkube", "", "2: it uses the Kubernetes client lightkube"},
		"requests of its own":        {`requests.get("https://kubernetes.default.svc/api/v1/pods")`, "", "2: it calls the API server without kubectl"},
		"what a marker says":         {"# +kubebuilder:rbac:groups=\"\",resources=pods,verbs=list\nimport kubernetes", "cluster: list /pods\n", ""},
		"a module of the project":    {"from common import pods", "own: list /pods\n", ""},
		"a module that is not there": {"import json", "", ""},
		"a package of the project":   {"from tools import svc", "own: list /configmaps,services\n", ""},
		"a module that is started":   {`subprocess.run([sys.executable, "-m", "common"])`, "own: list /pods\n", ""},
		"a script that is started":   {`subprocess.run(["bash", "/hooks/lib/nodes.sh"], check=True)`, "cluster: list /nodes\n", ""},
		"a program that is started":  {`subprocess.run(["/hooks/lib/nodes.sh"], check=True)`, "cluster: list /nodes\n", ""},
		"a script from outside":      {`subprocess.run(["bash", path])`, "", "2: bash runs ..., which operon does not analyze"},
		"a file in a text":           {`subprocess.run(["bash", "-c", "/hooks/lib/nodes.sh web"])`, "cluster: list /nodes\n", ""},
		"a file alone in a text":     {`subprocess.run(["bash", "-c", "/hooks/lib/nodes.sh"])`, "", "2: bash runs code that operon does not analyze"},
		"a file in a line":           {`subprocess.run("cd /tmp && /hooks/lib/nodes.sh web", shell=True); f = "a/b c"`, "cluster: list /nodes\n", ""},
		"a file in a call":           {`os.system("/hooks/lib/nodes.sh")`, "cluster: list /nodes\n", ""},
		"a file behind a program":    {`subprocess.run(["timeout", "5", "/hooks/lib/nodes.sh"])`, "cluster: list /nodes\n", ""},
		"Python code in a list":      {`subprocess.run(["python3", "-c", "import common"])`, "", "2: python3 runs code that operon does not analyze"},
		"a line that grows":          {"cmd = \"kubectl get pods\"\ncmd += \" -A\"\nos.system(cmd)", "", "2: kubectl: the arguments are known only at run time"},
		"a line with itself":         {"cmd = \"kubectl get pods\"\nif all: cmd = cmd + \" -A\"", "", "2: kubectl: the arguments are known only at run time"},
		"a kubeconfig":               {`subprocess.run(["kubectl", "get", "pods"], env={"KUBECONFIG": "/other"})`, "", "2: kubectl get: with KUBECONFIG another account may send the requests"},
		"a kubeconfig by name":       {`subprocess.run(["kubectl", "get", "pods"], env=dict(os.environ, KUBECONFIG="/other"))`, "", "2: kubectl get: with KUBECONFIG another account may send the requests"},
		"a list of words":            {`SHELLS = ["bash", "zsh"]` + "\n" + `for x in ("python3", "perl"): pass`, "", ""},
		"a module from outside":      {`subprocess.run(["python3", "-m", "nothing"])`, "", "2: python3 runs nothing, which operon does not analyze"},

		"a list without an end":      {`a = ["kubectl", "get",`, "", "2: it is not valid Python"},
		"a dict without an end":      {`a = {"b": ["c`, "", "2: it is not valid Python"},
		"a call without an end":      {`ctx.patch.create({"a": (`, "", "2: it is not valid Python"},
		"a long sum":                 {"x = ''" + strings.Repeat(" + 'a'", 5000) + "\nrun(['kubectl', 'get', 'pods'])", "own: list /pods\n", ""},
		"a long difference":          {"x = 1" + strings.Repeat(" - f(1)", 2000) + "\nrun(['kubectl', 'get', 'pods'])", "own: list /pods\n", ""},
		"an annotated list":          {"cmd: list[str] = [\"kubectl\", \"get\", \"pods\"]\ncmd += [\"-n\", \"other\"]", "", "2: kubectl: the arguments are known only at run time"},
		"an annotation alone":        {"cmd: list[str]", "", ""},
		"a name that match binds":    {"kind = 'pods'\nmatch event:\n  case {'kind': kind}: run(['kubectl', 'get', kind])", "", "4: kubectl get: the kind is known only at run time"},
		"a call in a list":           {`run(["kubectl", "get", "pods", check_output(["kubectl", "get", "cm", "x"])])`, "own: get /configmaps x\nown: get /pods\n", ""},
		"a call in a sum of lists":   {`run(["kubectl", "delete", "cm"] + check_output(["kubectl", "get", "pods"]))`, "own: list /pods\n", "2: kubectl: the arguments are known only at run time"},
		"a call in a sum of texts":   {`os.system("kubectl delete cm " + check_output(["kubectl", "get", "pods"]))`, "own: list /pods\n", "2: kubectl: the arguments are known only at run time"},
		"other verbs of a format":    {`os.system("kubectl --wait=false delete cm %5d -n %(ns)s" % (n))`, "cluster: delete /configmaps\n", ""},
		"Python 2":                   {`print "a"`, "", "2: it is not valid Python"},
		"a quote in a raw string":    {`p = r"\"[^\"]*"` + "\n" + `run(["kubectl", "get", "pods"])`, "own: list /pods\n", ""},
		"a backslash ends one":       {`p = r"\\"` + "\n" + `run(["kubectl", "get", "pods"])`, "own: list /pods\n", ""},
		"a quote in a formatted one": {`p = rf'{a}\'[{b}'` + "\n" + `run(["kubectl", "get", "pods"])`, "own: list /pods\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := derive(t, Input{Kinds: table(t), Python: python(t), Library: []Source{
				{"hooks/lib/common.py", []byte("def pods():\n    return run(['kubectl', 'get', 'pods'])\n")},
				{"hooks/lib/tools/__init__.py", []byte("run(['kubectl', 'get', 'cm'])\n")},
				{"hooks/lib/tools/svc.py", []byte("run(['kubectl', 'get', 'svc'])\n")},
				{"hooks/lib/nodes.sh", []byte("#!/bin/bash\nkubectl get nodes\n")}},
				Hooks: []Hook{{Source: Source{Path: "hooks/a.py", Text: []byte("#!/usr/bin/env python3\n" + tc.script + "\n")}}}})
			if got := lines(r); !sameLines(got, tc.rules) {
				t.Errorf("rules (-want +got):\n%s", cmp.Diff(tc.rules, got))
			}
			var unseen []string
			for _, f := range r.Findings {
				message, _, _ := strings.Cut(strings.TrimPrefix(f.Message, notSeen), " Python: ")
				if message != strings.TrimPrefix(f.Message, notSeen) {
					message += " Python"
				}
				unseen = append(unseen, message)
				if !strings.Contains(f.Hint, markerName) {
					t.Errorf("the hint names no marker: %+v", f)
				}
			}
			_, want, _ := strings.Cut(tc.unseen, ": ")
			if diff := cmp.Diff(want, strings.Join(unseen, "|")); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}
