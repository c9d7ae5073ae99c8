package goedit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var managers = Symbol{"sigs.k8s.io/controller-runtime", "NewManager"}

// TestPlacesBesideSiblings inserts a call beside similar ones, and before the manager starts.
func TestPlacesBesideSiblings(t *testing.T) {
	t.Parallel()
	const head = "package p\n\nimport ctrl \"sigs.k8s.io/controller-runtime\"\n\n"
	like := AfterLike("a setup of webhooks", func(call string) bool { return strings.HasSuffix(call, "Webhook") })
	start := BeforeMethod("Start", managers)
	making := AfterMaking(managers)
	for name, test := range map[string]struct {
		anchor    Anchor
		src, want string // "@": where the line goes
	}{
		"several in a condition":    {like, "func f() {\n\tif on {\n\t\ta.SetupWebhook()\n\t\tif b {\n\t\t\tb.SetupWebhook()\n\t\t}\n\t\t@\n\t}\n\tother()\n}\n", ""},
		"one in a condition":        {like, "func f() {\n\tif on {\n\t\tcheck(a.SetupWebhook())\n\t\t@\n\t}\n}\n", ""},
		"cases of a switch":         {like, "func f() {\n\tswitch m {\n\tcase 1:\n\t\ta.SetupWebhook()\n\tcase 2:\n\t\tb.SetupWebhook()\n\t}\n\t@\n}\n", ""},
		"blocks":                    {like, "func f() {\n\t{\n\t\ta.SetupWebhook()\n\t}\n\t{\n\t\tb.SetupWebhook()\n\t}\n\t@\n}\n", ""},
		"a condition twice":         {like, "func f() {\n\tif on {\n\t\ta.SetupWebhook()\n\t}\n\tif on {\n\t\tb.SetupWebhook()\n\t\t@\n\t}\n}\n", ""},
		"a condition in two others": {like, "func f() {\n\tif a {\n\t\tif on {\n\t\t\ta.SetupWebhook()\n\t\t}\n\t}\n\tif b {\n\t\tif on {\n\t\t\tb.SetupWebhook()\n\t\t}\n\t}\n\t@\n}\n", ""},
		"last function":             {like, "func f() {\n\ta.SetupWebhook()\n}\n\nfunc g() {\n\tif err := a.SetupWebhook(); err != nil {\n\t\treturn\n\t}\n\t@\n}\n", ""},
		"none":                      {like, "func f() {}\n", "p.go has no setup of webhooks"},
		"function literal":          {start, "var c = &C{Run: func() {\n\tmgr, err := ctrl.NewManager()\n\t@\n\tmgr.Start()\n}}\n", ""},
		"method":                    {start, "func (c C) run() error {\n\tm, err := ctrl.NewManager()\n\tif err != nil {\n\t\treturn err\n\t}\n\t@\n\treturn m.Start()\n}\n", ""},
		"started in a goroutine":    {start, "func run() {\n\tm, _ := ctrl.NewManager()\n\t@\n\tgo func() { m.Start() }()\n}\n", ""},
		"made in a loop":            {making, "func run() {\n\tother.NewManager()\n\tfor {\n\t\tm, err := ctrl.NewManager()\n\t\tif err == nil {\n\t\t\tbreak\n\t\t}\n\t\t@\n\t}\n}\n", ""},
		"not made":                  {making, "func run() {\n\tother.NewManager()\n}\n", "p.go has no call of NewManager"},
		"not started":               {start, "func run() {\n\tm, _ := ctrl.NewManager()\n\t_ = m\n}\n", "p.go has no call of Start on the result of NewManager"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := head + test.src
			f, err := Parse("p.go", []byte(strings.ReplaceAll(strings.ReplaceAll(src, "\t\t@\n", ""), "\t@\n", "")))
			if err != nil {
				t.Fatal(err)
			}
			err = f.Insert("added()", test.anchor)
			if test.want != "" {
				if err == nil || err.Error() != test.want {
					t.Errorf("got %v, want %s", err, test.want)
				}
				return
			}
			got, err := f.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.ReplaceAll(src, "@", "added()"), string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestScopeOfErrors checks what a place knows about errors: whether its function returns them, and
// which variable logs them.
func TestScopeOfErrors(t *testing.T) {
	t.Parallel()
	const head = "package p\n\nimport \"k8s.io/klog/v2\"\n\nvar log, setupLog logr\n\n"
	for name, test := range map[string]struct {
		src       string
		returns   string
		logger    string
		goroutine bool
	}{
		"main":               {"func main() {\n\tsetupLog.Error(err, \"first\")\n\there()\n\tlog.Error(err, \"later\")\n}\n", "", "setupLog", false},
		"the nearest":        {"func main() {\n\tlog.Error(err, \"first\")\n\tsetupLog.Error(err, \"second\")\n\there()\n}\n", "", "setupLog", false},
		"later":              {"func run() error {\n\there()\n\tlog.Error(err, \"first\", \"k\", v)\n\tsetupLog.Error(err, \"second\")\n}\n", "return err", "log", false},
		"an imported logger": {"func run() (int, error) {\n\there()\n\tklog.Error(err, \"first\")\n}\n", "", "", false},
		"another form":       {"func run() error {\n\there()\n\tlog.Error(\"text\", err)\n}\n", "return err", "", false},
		"function literal":   {"var c = C{RunE: func() error {\n\there()\n\treturn nil\n}}\n", "return err", "", false},
		"literal in main":    {"func main() {\n\tf(func() error {\n\t\treturn nil\n\t})\n\there()\n}\n", "", "", false},
		"two results":        {"func run() (s *server, err error) {\n\there()\n}\n", "return nil, err", "", false},
		"a struct":           {"func run() (server, error) {\n\there()\n}\n", "", "", false},
		"goroutine":          {"func main() {\n\tgo setup()\n}\n\nfunc setup() {\n\there()\n}\n", "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := Parse("p.go", []byte(head+test.src))
			if err != nil {
				t.Fatal(err)
			}
			at := f.ScopeAt(AfterLike("here", func(call string) bool { return call == "here" }))
			if at == nil {
				t.Fatal("no place")
			}
			if returns, _ := at.ErrorReturn(); returns != test.returns || at.ErrorLogger() != test.logger || at.InGoroutine() != test.goroutine {
				t.Errorf("got %q, %q, %v", returns, at.ErrorLogger(), at.InGoroutine())
			}
		})
	}
}

func TestAddArguments(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ src, want string }{
		"one line":       {"s.AddKnownTypes(GV, &A{}, &AList{})\n", "s.AddKnownTypes(GV, &A{}, &AList{}, &B{}, &BList{})\n"},
		"a line each":    {"s.AddKnownTypes(GV,\n\t\t&A{},\n\t\t&AList{},\n\t)\n", "s.AddKnownTypes(GV,\n\t\t&A{},\n\t\t&AList{},\n\t\t&B{},\n\t\t&BList{},\n\t)\n"},
		"no types":       {"s.AddKnownTypes(GV)\n", "s.AddKnownTypes(GV, &B{}, &BList{})\n"},
		"there already":  {"s.AddKnownTypes(GV, & B { }, &A{}, &BList{})\n", "s.AddKnownTypes(GV, & B { }, &A{}, &BList{})\n"},
		"partly there":   {"s.AddKnownTypes(GV, &B{})\n", "s.AddKnownTypes(GV, &B{}, &BList{})\n"},
		"several calls":  {"s.AddKnownTypes(Other, &A{})\n\ts.AddKnownTypes(GV, &A{})\n", "s.AddKnownTypes(Other, &A{})\n\ts.AddKnownTypes(GV, &A{}, &B{}, &BList{})\n"},
		"no call":        {"s.AddKnownTypes(Other, &A{})\n", ""},
		"in an old file": {"s.AddKnownTypes(GV, &A{}) // all\n", "s.AddKnownTypes(GV, &A{}, &B{}, &BList{}) // all\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const before, after = "package v1\n\nfunc add(s *Scheme) error {\n\t", "\treturn nil\n}\n"
			f, err := Parse("register.go", []byte(before+test.src+after))
			if err != nil {
				t.Fatal(err)
			}
			err = f.AddArguments("AddKnownTypes", "GV", "&B{}", "&BList{}")
			if (err == nil) != (test.want != "") {
				t.Fatal(err)
			}
			if err != nil {
				return
			}
			got, err := f.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before+test.want+after, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
