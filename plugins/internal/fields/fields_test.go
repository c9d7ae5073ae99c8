package fields_test

import (
	"go/format"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/plugins/internal/fields"
)

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ description, want, hint string }{
		{"guns", `character 5: the type is missing`, "deployments:int32"},
		{"", `character 1: "" is not the name of a field`, "write NAME:TYPE"},
		{"Guns:int32", `character 1: "Guns" is not the name of a field`, "try guns"},
		{"max-guns:int32", `character 1: "max-guns" is not the name of a field`, "try maxGuns"},
		{"a..b:int32", `character 3: "" is not the name of a field`, ""},
		{"guns:int33,min=1", `character 6: there is no type "int33"`, "did you mean int32?"},
		{"guns:int", `character 6: there is no type "int"`, "use int32 or int64"},
		{"speed:float64", `character 7: there is no type "float64"`, "use quantity"},
		{"guns:", `character 6: there is no type ""`, "types: string"},
		{"guns[]:int32", `character 5: this belongs to the type`, "ports:[]int32?"},
		{"guns:int32?min=1", `character 12: unexpected "min=1"`, "commas"},
		{"guns:int32,mim=1", `character 12: there is no option "mim"`, "did you mean min?"},
		{"guns:int32,minimum=1", `character 12: there is no option "minimum"`, "did you mean min?"},
		{"guns:int32,min", `character 15: the option min needs a value`, "min=1"},
		{"guns:[]int32,unique=true", `character 20: the option unique has no value`, "write unique alone"},
		{"guns:int32,min=x", `character 16: "x" is not a number of the type int32`, ""},
		{"guns:int32,max=4294967296", `character 16: "4294967296" is not a number of the type int32`, ""},
		{"guns:int32,min=5,max=1", `character 22: min is 5, but max is 1`, ""},
		{"guns:int32,min=5,min=6", `character 18: the option min occurs twice`, "remove one"},
		{"name:string,min=5", `character 13: the option min is for integers`, "remove it"},
		{"name:string,maxLength=-1", `character 23: "-1" is not a number from 0`, ""},
		{"name:string,pattern=[", "character 21: error parsing regexp", "regular expression"},
		{"name:string,pattern=\"^a{1,2}$", `character 21: this quote is not closed`, ""},
		{"name:string,format=hostnam", `character 20: API servers do not check the format "hostnam"`, "hostname"},
		{"name:string,enum=a||b", `character 18: "a||b" has an empty value or one twice`, ""},
		{"größe:int32", `character 1: "größe" is not the name of a field`, ""},
		{"a.ü:int32", `character 3: "ü" is not the name of a field`, ""},
		{"guns:int32,min=5,default=3", `character 26: the other options do not allow "3"`, ""},
		{"mode:string,enum=a|b,default=c", `character 30: the other options do not allow "c"`, ""},
		{"on:bool,default=yes", `character 17: "yes" is neither true nor false`, ""},
		{"wait:duration,default=1 minute", `character 23: "1 minute" is not a duration`, ""},
		{"names:[]string,default=a", `character 16: the option default is for single values`, ""},
		{"labels:map[string]string,minLength=1", `character 26: the option minLength is for strings`, ""},
		{"ports[].name:string?,key", `character 25: a key cannot be optional`, "question mark"},
		{"name:string,key", `character 13: the option key is for strings and integers of the objects in a list`, ""},
	} {
		_, err := fields.Parse(tt.description)
		if err == nil {
			t.Errorf("%s: no error", tt.description)
			continue
		}
		if !strings.Contains(err.Error(), tt.want) || !strings.Contains(fault.HintOf(err), tt.hint) || fault.HintOf(err) == "" || fault.Code(err) != fault.CodeUsage {
			t.Errorf("%s:\n got %s\nhint %s\nwant %s\nhint %s", tt.description, err, fault.HintOf(err), tt.want, tt.hint)
		}
	}
}

func TestContradictions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		descriptions []string
		want         string
	}{
		"twice":               {[]string{"a:int32", "a:int64"}, `--field "a:int64": character 1: the field a exists already, from --field "a:int32"`},
		"object and value":    {[]string{"a.b:int32", "a:int32"}, "the field a exists already"},
		"value and object":    {[]string{"a:int32", "a.b:int32"}, "the field a exists already"},
		"object and list":     {[]string{"a.b:int32", "a[].c:int32"}, "the field a exists already"},
		"two keys":            {[]string{"a[].b:string,key", "a[].c:string,key"}, "already have the key b"},
		"a type of the kind":  {[]string{"list.a:int32"}, "the type of list would be a second FrigateList"},
		"two types":           {[]string{"ports[].a:int32", "port.a:int32"}, "the type of port would be a second FrigatePort"},
		"conditions":          {[]string{"status.conditions:string"}, `--field "status.conditions:string": each status has conditions already`},
		"a generated method":  {[]string{"deepCopy:string"}, "controller-gen writes a method DeepCopy"},
		"another method":      {[]string{"crew.deepCopyInto:string"}, "controller-gen writes a method DeepCopyInto"},
		"the same name in Go": {[]string{"uRL:string", "url:string"}, "the fields uRL and url have the same name in Go"},
	} {
		_, err := fields.ParseKind("Frigate", tt.descriptions)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
}

func TestCode(t *testing.T) {
	t.Parallel()
	k, err := fields.ParseKind("Frigate", []string{
		"guns:int32,min=1", "url:string?,format=uri", "mode:string,enum=fast|very slow,default=fast", "heartbeat.interval:duration?",
		"ports[].name:string,key", "ports[].number:int32,max=65535", "tags:[]string?,unique,maxLength=8,maxItems=3",
		"size:quantity,immutable", "password:secret-key?", "labels:map[string]string?", `owner:string,doc="Who sails, it."`, "status.crew:int32", "status.since:time", "status.position.lat:string",
	})
	if err != nil {
		t.Fatal(err)
	}
	src := "package v1\n\ntype FrigateSpec struct {\n" + k.Spec.Code() + "\n}\n\ntype FrigateStatus struct {\n" + k.Status.Code() + "\n}\n\n" + k.Spec.Types() + "\n\n" + k.Status.Types() + "\n"
	formatted, err := format.Source([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(formatted), src); diff != "" {
		t.Errorf("not formatted (-gofmt +got):\n%s", diff)
	}
	const want = `package v1

type FrigateSpec struct {
	// guns is an integer.
	// +kubebuilder:validation:Minimum=1
	// +required
	Guns int32 ` + "`json:\"guns\"`" + `

	// url is a string.
	// +kubebuilder:validation:Format=uri
	// +optional
	URL *string ` + "`json:\"url,omitempty\"`" + `

	// mode is a string.
	// +kubebuilder:validation:Enum=fast;"very slow"
	// +kubebuilder:default="fast"
	// +optional
	Mode *string ` + "`json:\"mode,omitempty\"`" + `

	// heartbeat is an object.
	// +optional
	Heartbeat *FrigateHeartbeat ` + "`json:\"heartbeat,omitempty\"`" + `

	// ports is a list of objects.
	// +listType=map
	// +listMapKey=name
	// +required
	Ports []FrigatePort ` + "`json:\"ports\"`" + `

	// tags is a list; each item is a string.
	// +listType=set
	// +kubebuilder:validation:items:MaxLength=8
	// +kubebuilder:validation:MaxItems=3
	// +optional
	Tags []string ` + "`json:\"tags,omitempty\"`" + `

	// size is a quantity, such as 500Mi.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="size is immutable"
	// +required
	Size resource.Quantity ` + "`json:\"size\"`" + `

	// password is a key of a Secret in the same namespace.
	// +optional
	Password *corev1.SecretKeySelector ` + "`json:\"password,omitempty\"`" + `

	// labels is a map; each value is a string.
	// +optional
	Labels map[string]string ` + "`json:\"labels,omitempty\"`" + `

	// owner: Who sails, it.
	// +required
	Owner string ` + "`json:\"owner\"`" + `
}

type FrigateStatus struct {
	// crew is an integer.
	// +optional
	Crew int32 ` + "`json:\"crew\"`" + `

	// since is a time, such as 2030-01-02T15:04:05Z.
	// +optional
	Since *metav1.Time ` + "`json:\"since,omitempty\"`" + `

	// position is an object.
	// +optional
	Position *FrigateStatusPosition ` + "`json:\"position,omitempty\"`" + `
}

// FrigateHeartbeat is the heartbeat of the Frigate.
type FrigateHeartbeat struct {
	// interval is a duration, such as 1m30s.
	// +optional
	Interval *metav1.Duration ` + "`json:\"interval,omitempty\"`" + `
}

// FrigatePort is one of the ports of the Frigate.
type FrigatePort struct {
	// name is a string.
	// +required
	Name string ` + "`json:\"name\"`" + `

	// number is an integer.
	// +kubebuilder:validation:Maximum=65535
	// +required
	Number int32 ` + "`json:\"number\"`" + `
}

// FrigateStatusPosition is the position of the Frigate.
type FrigateStatusPosition struct {
	// lat is a string.
	// +optional
	Lat string ` + "`json:\"lat\"`" + `
}
`
	if diff := cmp.Diff(want, src); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantImports := []string{`corev1 "k8s.io/api/core/v1"`, `"k8s.io/apimachinery/pkg/api/resource"`, `metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"`}
	if diff := cmp.Diff(wantImports, fields.Imports(k.Objects())); diff != "" {
		t.Errorf("imports (-want +got):\n%s", diff)
	}
}

// TestAddToSample completes samples of users.
func TestAddToSample(t *testing.T) {
	t.Parallel()
	k, err := fields.ParseKind("Frigate", []string{"guns:int32,min=2", "name:string?", "heartbeat.interval:duration", "heartbeat.count:int32", "mode:string,default=fast"})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ sample, want string }{
		"empty": {"kind: Frigate\nspec: {}\n", "kind: Frigate\nspec:\n  guns: 2\n  heartbeat:\n    count: 1\n    interval: 1m30s\n  mode: fast\n"},
		"partly": {"kind: Frigate\nspec:\n  # mine\n  guns: 7\n  heartbeat:\n    count: 3 # often\n",
			"kind: Frigate\nspec:\n  # mine\n  guns: 7\n  heartbeat:\n    count: 3 # often\n    interval: 1m30s\n  mode: fast\n"},
		"complete": {"spec: {guns: 3, mode: slow, heartbeat: {count: 1, interval: 1s}}\n", "spec: {guns: 3, mode: slow, heartbeat: {count: 1, interval: 1s}}\n"},
	} {
		got, err := k.AddToSample([]byte(tt.sample))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestHugeFields completes samples for fields whose values would be huge, or take long to find.
func TestHugeFields(t *testing.T) {
	t.Parallel()
	for _, description := range []string{
		`name:string,pattern="^` + strings.Repeat("(a|b){1000}", 100) + `$"`,
		`name:string,pattern="` + strings.Repeat("((a{10}){10}){10}", 100) + `"`,
		`name:string,pattern="^` + strings.Repeat("(", 500) + "a" + strings.Repeat("+)*", 500) + `$"`,
		`name:string,pattern="` + strings.Repeat("(a|a?)+", 100) + `b"`,
		"name:string,minLength=2000000000",
		"names:[]string,minItems=2000000000",
		"names:map[string]string,minProperties=2000000000",
	} {
		t.Run(description[:20], func(t *testing.T) {
			t.Parallel()
			ended := make(chan int, 1)
			go func() {
				size := 0
				k, err := fields.ParseKind("Frigate", []string{description})
				if err == nil {
					var sample []byte
					sample, err = k.AddToSample([]byte("spec: {}\n"))
					size = len(sample)
				}
				if err != nil && fault.HintOf(err) == "" {
					t.Error(err)
				}
				ended <- size
			}()
			select {
			case size := <-ended:
				if size > 1<<20 {
					t.Errorf("the sample has %d bytes", size)
				}
			case <-time.After(time.Minute):
				t.Error("it does not end")
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, description := range []string{"guns:int32,min=1", "a?.b[].c:string?,enum=a|b", `x:string,pattern="\"a,"`, "status.since:time", "l:[]map[string]int64,"} {
		f.Add(description)
	}
	f.Fuzz(func(t *testing.T, description string) {
		k, err := fields.ParseKind("Frigate", []string{description})
		if err != nil {
			return
		}
		src := "package v1\n\ntype FrigateSpec struct {\n" + k.Spec.Code() + "\n}\n\ntype FrigateStatus struct {\n" + k.Status.Code() + "\n}\n" + k.Spec.Types() + k.Status.Types()
		if _, err := format.Source([]byte(src)); err != nil {
			t.Errorf("%q: %v\n%s", description, err, src)
		}
	})
}
