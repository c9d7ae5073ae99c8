package project

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOperandWords(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"memcached,--memory-limit=64,-o,modern,-v": "memcached|--memory-limit=64|-o|modern|-v",
		"memcached, -v ,":                          "memcached|-v",
		"memcached --limit=64\t-v":                 "memcached|--limit=64|-v",
		"sh,-c,sleep 1":                            "sh|-c|sleep 1",
		`sh,-c,"echo a,b"`:                         "sh|-c|echo a,b",
		`sh -c 'echo a,b'`:                         "sh|-c|echo a,b",
		`sh, -c , " spaces "  ,end`:                "sh|-c| spaces |end",
		`echo,""`:                                  "echo|",
		`--a="b c"`:                                "--a=b c",
		`echo,"it's"`:                              "echo|it's",
		"":                                         "error: names no program",
		" , ":                                      "error: names no program",
		`"",x`:                                     "error: names no program",
		`echo,"a`:                                  `error: has an unbalanced quote "`,
		`echo 'a`:                                  "error: has an unbalanced quote '",
	} {
		words, err := Operand{ContainerCommand: command}.Words()
		got := strings.Join(words, "|")
		if err != nil {
			got = "error: " + strings.TrimPrefix(err.Error(), "--image-container-command "+strconv.Quote(command)+" ")
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", command, got, want)
		}
	}
}

func TestOperand(t *testing.T) {
	t.Parallel()
	r := Resource{Group: "cache", Domain: "example.org", Version: "v1", Kind: "Memcached", API: &API{Namespaced: true}, Controller: true}
	c := &Config{Resources: []Resource{r}}
	if _, ok := c.Operand(r); ok {
		t.Error("there is an operand without a record")
	}
	want := Operand{Image: "memcached:1", ContainerPort: "11211"}
	c.PutOperand(r, Operand{Image: "old"})
	c.PutOperand(r, want)
	if got, ok := c.Operand(r); !ok || got != want {
		t.Errorf("got %+v, %t", got, ok)
	}
	if got := c.Features(r, "memcached"); !got.Equal(Features{Owns: []string{"apps/v1/Deployment"}, Finalizer: true}) {
		t.Errorf("features %+v", got)
	}
	if got := c.Features(r, "other"); !got.IsZero() {
		t.Errorf("another controller has features %+v", got)
	}
	c.PutFields(r, append(c.Fields(r), "name:string"))
	if diff := cmp.Diff([]string{"name:string"}, c.recordedFields(r)); diff != "" {
		t.Errorf("recorded fields (-want +got):\n%s", diff)
	}
	if got := len(c.Fields(r)); got != 3 {
		t.Errorf("%d fields: %q", got, c.Fields(r))
	}

	// The numbers are text, unless somebody edited the file.
	edited, err := Parse([]byte("version: \"3\"\nlayout: [go.kubebuilder.io/v4]\nplugins:\n  " + OperandKey +
		":\n    resources:\n    - {group: cache, domain: example.org, version: v1, kind: Memcached, options: {image: a, containerPort: 80, runAsUser: 7}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := edited.Operand(r); got != (Operand{Image: "a", ContainerPort: "80", RunAsUser: "7"}) {
		t.Errorf("got %+v", got)
	}
}

func TestImageVariable(t *testing.T) {
	t.Parallel()
	c := &Config{}
	var all []Resource
	for _, r := range []Resource{ // in the order in which they are added
		{Group: "ship", Domain: "example.org", Kind: "Cache"},
		{Group: "cache-x", Domain: "example.org", Kind: "Cache"},
		{Group: "cache-x", Domain: "other.org", Kind: "Cache"},
		{Domain: "example.org", Kind: "Cache"},
		{Group: "ship", Domain: "example.org", Kind: "CACHE"},
		{Group: "ship", Domain: "example.org", Kind: "Store"},
	} {
		r.Version = "v1"
		all = append([]Resource{r}, all...) // in another order than the entries
		c.PutOperand(r, Operand{Image: "a:1"})
	}
	c.Resources = all
	c.PutOperand(all[len(all)-1], Operand{Image: "a:2"})
	var got []string
	for _, r := range all {
		got = append([]string{c.ImageVariable(r)}, got...)
	}
	want := []string{"CACHE_IMAGE", "CACHE_X_CACHE_IMAGE", "CACHE_X_OTHER_ORG_CACHE_IMAGE", "EXAMPLE_ORG_CACHE_IMAGE", "SHIP_CACHE_IMAGE", "STORE_IMAGE"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
}

func TestOperandCheck(t *testing.T) {
	t.Parallel()
	for want, operands := range map[string][]Operand{
		"":                                   {{Image: "nginx"}, {Image: "nginx", RunAsUser: "1"}, {Image: "nginx", RunAsUser: "2147483647", ContainerPort: "65535"}, {Image: "localhost:5000/nginx@sha256:" + strings.Repeat("0", 64)}},
		"--run-as-user %q is not a user ID":  {{RunAsUser: "010"}, {RunAsUser: "08"}, {RunAsUser: "+5"}, {RunAsUser: "-1"}, {RunAsUser: "2147483648"}, {RunAsUser: "me"}},
		"--run-as-user 0 is root":            {{RunAsUser: "0"}},
		"--image-container-port %q is not a": {{ContainerPort: "080"}, {ContainerPort: "+80"}, {ContainerPort: "65536"}, {ContainerPort: "0"}},
		"is not a reference to an image":     {{Image: "http://example.org/nginx:1"}, {Image: "A"}, {Image: "a b"}},
	} {
		for _, o := range operands {
			part := strings.ReplaceAll(want, "%q", strconv.Quote(o.RunAsUser+o.ContainerPort))
			if o.Image == "" {
				o.Image = "nginx"
			}
			if err := o.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), part) {
				t.Errorf("%+v: %v, want %q", o, err, part)
			}
		}
	}
}
