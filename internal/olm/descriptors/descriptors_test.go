package descriptors

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"
)

// sources are a kind whose fields are in three packages of two modules.
const sources = `
-- fleet/go.mod --
module example.org/fleet

go 1.26

require example.org/parts v0.0.0

replace example.org/parts => ../parts
-- parts/go.mod --
module example.org/parts

go 1.26
-- parts/parts.go --
package parts

type Engine struct {
	// Power in kilowatts.
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:number"}
	Power int ` + "`json:\"power\"`" + `
}
-- fleet/shared/shared.go --
package shared

import motor "example.org/parts"

type Common struct {
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="The name"
	Name string ` + "`json:\"name,omitempty\"`" + `
	Engines Engines ` + "`json:\"engines\"`" + `
	hidden Engines
	Ignored Engines ` + "`json:\"-\"`" + `
}

type Engines []motor.Engine
-- fleet/api/v1/types.go --
// +groupName=ship.example.org
package v1

import "example.org/fleet/shared"

// Frigate is a ship.
// +operator-sdk:csv:customresourcedefinitions:displayName="A frigate",order=2,resources={{Service,v1,frigate},{Deployment,v1}}
type Frigate struct {
	Spec   FrigateSpec ` + "`json:\"spec,omitempty\"`" + `
	Status FrigateStatus ` + "`json:\"status,omitempty\"`" + `
}

type FrigateSpec struct {
	shared.Common ` + "`json:\",inline\"`" + `

	// Escorts sail beside it.
	// +operator-sdk:csv:customresourcedefinitions:type=spec,order=1
	// +operator-sdk:csv:customresourcedefinitions:type=status,displayName="Seen"
	Escorts []Escort ` + "`json:\"escorts,omitempty\"`" + `

	// +operator-sdk:csv:customresourcedefinitions:type=status
	NotInSpec string ` + "`json:\"notInSpec\"`" + `
}

type Escort struct {
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:text,urn:alm:descriptor:x"
	Name string ` + "`json:\"name\"`" + `
	Next *Escort ` + "`json:\"next\"`" + `
}

type FrigateStatus struct {
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Phase string ` + "`json:\"phase\"`" + `
}

// Plain has no markers.
type Plain struct {
	Spec PlainSpec ` + "`json:\"spec\"`" + `
}

type PlainSpec struct{ Text string }
`

// write writes the sources with a replacement, and returns the folder of the module.
func write(t *testing.T, from, to string) string {
	t.Helper()
	if from != "" && strings.Count(sources, from) != 1 {
		t.Fatalf("%q occurs %d times", from, strings.Count(sources, from))
	}
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(strings.Replace(sources, from, to, 1))).Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "fleet")
}

var frigate = Type{"example.org/fleet/api/v1", "Frigate"}

func TestLoad(t *testing.T) {
	t.Parallel()
	plain := Type{frigate.Package, "Plain"}
	found, err := Load(context.Background(), write(t, "", ""), os.Environ(), []Type{frigate, plain, {frigate.Package, "Missing"}})
	if err != nil {
		t.Fatalf("%v: %s", err, fault.HintOf(err))
	}
	if found[plain] != nil || len(found) != 1 || found[frigate].Order != 2 {
		t.Errorf("got %v", found)
	}
	entry := map[string]any{"description": "kept"}
	Complete(entry, "Frigate", found[frigate], nil)
	var want map[string]any
	if err := yaml.Unmarshal([]byte(`
description: kept
displayName: A frigate
resources:
- {kind: Deployment, version: v1, name: ""}
- {kind: Service, version: v1, name: frigate}
specDescriptors:
- {path: escorts, displayName: Escorts, description: Escorts sail beside it.}
- {path: 'engines.power', displayName: Power, description: Power in kilowatts., x-descriptors: ['urn:alm:descriptor:com.tectonic.ui:number']}
- {path: 'escorts[0].name', displayName: Name, x-descriptors: ['urn:alm:descriptor:com.tectonic.ui:text', 'urn:alm:descriptor:x']}
- {path: name, displayName: The name}
statusDescriptors:
- {path: phase, displayName: Phase}
`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, entry); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ from, to, text string }{
		{"{Deployment,v1}", "{Deployment}", "api/v1/types.go:8:6: a resource in the marker +operator-sdk:csv:customresourcedefinitions of Frigate has 1 values"},
		{"order=2", "order=two", `api/v1/types.go:7:1: expected integer, got "two"`},
		{"order=2", "colour=red", `api/v1/types.go:7:1: unknown argument "colour"`},
		{"type FrigateStatus struct {", "type FrigateStatus struct {{", "api/v1/types.go:31:28: "},
	} {
		_, err := Load(context.Background(), write(t, tc.from, tc.to), os.Environ(), []Type{frigate})
		if err == nil || !strings.HasPrefix(err.Error(), tc.text) || strings.Contains(err.Error(), "\n") || fault.HintOf(err) == "" {
			t.Errorf("%s: got %v, hint %q", tc.to, err, fault.HintOf(err))
		}
	}
}

// TestLoadInterrupted expects the cause of an interrupted command, not what the go command printed.
func TestLoadInterrupted(t *testing.T) {
	t.Parallel()
	interrupted := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(interrupted)
	if _, err := Load(ctx, write(t, "", ""), os.Environ(), []Type{frigate}); !errors.Is(err, interrupted) {
		t.Error(err)
	}
}

// TestLoadWithoutGo expects a hint if the go command is missing.
func TestLoadWithoutGo(t *testing.T) {
	dir := write(t, "", "")
	t.Setenv("PATH", t.TempDir())
	if _, err := Load(context.Background(), dir, os.Environ(), []Type{frigate}); err == nil || err.Error() != "the go command is not in PATH" || fault.HintOf(err) == "" {
		t.Errorf("%v, hint %q", err, fault.HintOf(err))
	}
}

func TestFromSchema(t *testing.T) {
	t.Parallel()
	var schema map[string]any
	if err := yaml.Unmarshal([]byte(`
description: A ship.
properties:
  spec:
    properties:
      size: {type: integer, description: How big.}
      replicas: {type: integer}
      mode: {type: string, enum: [fast, slow]}
      enabled: {type: boolean}
      text: {type: string}
      token: {type: string, format: password}
      resources: {type: object, properties: {limits: {}, requests: {}}}
      list: {type: array}
  status:
    properties:
      conditions: {type: array}
      count: {type: integer}
`), &schema); err != nil {
		t.Fatal(err)
	}
	entry := map[string]any{"statusDescriptors": []any{map[string]any{"path": "mine"}}}
	Complete(entry, "FrigateShip", nil, schema)
	text, err := yaml.Marshal(entry)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`description: A ship.
displayName: Frigate Ship
specDescriptors:
- displayName: Enabled
  path: enabled
  x-descriptors:
  - urn:alm:descriptor:com.tectonic.ui:booleanSwitch
- displayName: List
  path: list
- displayName: Mode
  path: mode
  x-descriptors:
  - urn:alm:descriptor:com.tectonic.ui:select:fast
  - urn:alm:descriptor:com.tectonic.ui:select:slow
- displayName: Replicas
  path: replicas
  x-descriptors:
  - urn:alm:descriptor:com.tectonic.ui:podCount
- displayName: Resources
  path: resources
  x-descriptors:
  - urn:alm:descriptor:com.tectonic.ui:resourceRequirements
- description: How big.
  displayName: Size
  path: size
  x-descriptors:
  - urn:alm:descriptor:com.tectonic.ui:number
- displayName: Text
  path: text
  x-descriptors:
  - urn:alm:descriptor:com.tectonic.ui:text
- displayName: Token
  path: token
  x-descriptors:
  - urn:alm:descriptor:com.tectonic.ui:password
statusDescriptors:
- path: mine
`, string(text)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := fromSchema(schema, status); len(got) != 2 || got[0].(map[string]any)["x-descriptors"] == nil || got[1].(map[string]any)["x-descriptors"] != nil {
		t.Errorf("status: %v", got)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"fleet": "Fleet", "s3-operator": "S3 Operator", "DatabaseUser": "Database User", "NFS": "NFS", "NFSServer": "NFS Server", "S3": "S3", "containerPort": "Container Port"} {
		if got := Words(name); got != want {
			t.Errorf("Words(%q) = %q, want %q", name, got, want)
		}
	}
}
