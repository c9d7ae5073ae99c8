package project

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/operon-dev/operon/internal/fault"
)

// OperandKey is kubebuilder's key below plugins in PROJECT that records operands:
//
//	deploy-image.go.kubebuilder.io/v1-alpha:
//	  resources:
//	  - {domain: example.org, group: cache, kind: Memcached, version: v1,
//	    options: {image: "memcached:1.6", containerCommand: "memcached,-v", containerPort: "11211", runAsUser: "1001"}}
const OperandKey = "deploy-image.go.kubebuilder.io/v1-alpha"

// Operand describes the Deployment that the controller of a kind keeps for each object: one
// container with an image. Values are as PROJECT and the flags of create api have them.
type Operand struct {
	Image            string `json:"image"`
	ContainerCommand string `json:"containerCommand,omitempty"` // see Words
	ContainerPort    string `json:"containerPort,omitempty"`
	RunAsUser        string `json:"runAsUser,omitempty"`
}

// maxUserID is the largest user ID that Kubernetes accepts.
const maxUserID = 1<<31 - 1

// Check validates the values. Its errors name the flags of create api.
func (o Operand) Check() error {
	if _, err := name.ParseReference(o.Image); err != nil {
		return fault.Usage("write the image as [REGISTRY/]NAME[:TAG or @DIGEST], such as memcached:1.6.26-alpine3.19", "--image %q is not a reference to an image", o.Image)
	}
	if o.ContainerCommand != "" {
		if _, err := o.Words(); err != nil {
			return err
		}
	}
	if _, err := strconv.ParseUint(o.ContainerPort, 10, 16); o.ContainerPort != "" && (err != nil || o.ContainerPort[0] == '0') {
		return fault.Usage("use a port from 1 to 65535", "--image-container-port %q is not a port", o.ContainerPort)
	}
	user, err := strconv.ParseInt(o.RunAsUser, 10, 64)
	switch {
	case o.RunAsUser == "":
	case err != nil || user < 0 || user > maxUserID:
		return fault.Usage("use a number from 1 to "+strconv.Itoa(maxUserID), "--run-as-user %q is not a user ID", o.RunAsUser)
	case user == 0:
		return fault.Usage("use another user, or omit the flag, if the image names a user by its number", "--run-as-user 0 is root, which the restricted security context of the container excludes")
	}
	return nil
}

// Words returns the words of the command. Commas separate them, or spaces if there is no comma.
// Single or double quotes protect both; spaces around a word do not count.
func (o Operand) Words() ([]string, error) {
	const hint = `write the words with commas between them, such as "memcached,-m,64", and quote a word with a comma`
	var words []string
	var word strings.Builder
	var quote rune
	commas, quoted := hasComma(o.ContainerCommand), false
	end := func() {
		text := word.String()
		if !quoted {
			text = strings.TrimSpace(text)
		}
		if text != "" || quoted {
			words = append(words, text)
		}
		word.Reset()
		quoted = false
	}
	for _, r := range o.ContainerCommand {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, quoted = r, true
			text := strings.TrimLeftFunc(word.String(), unicode.IsSpace)
			word.Reset()
			word.WriteString(text)
		case r == ',' && commas, unicode.IsSpace(r) && !commas:
			end()
		case quoted && unicode.IsSpace(r): // after the closing quote
		default:
			word.WriteRune(r)
		}
	}
	if quote != 0 {
		return nil, fault.Usage(hint, "--image-container-command %q has an unbalanced quote %c", o.ContainerCommand, quote)
	}
	end()
	if len(words) == 0 || words[0] == "" {
		return nil, fault.Usage(hint, "--image-container-command %q names no program", o.ContainerCommand)
	}
	return words, nil
}

// hasComma reports whether a command has a comma outside of quotes.
func hasComma(command string) bool {
	var quote rune
	for _, r := range command {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == ',':
			return true
		}
	}
	return false
}

// Operand returns the recorded operand of r. ok is false if there is none.
func (c *Config) Operand(r Resource) (o Operand, ok bool) {
	wanted := entryOf(r, "", Features{})
	for _, entry := range c.entries(OperandKey) {
		m, isMap := entry.(map[string]any)
		if !isMap || !sameEntry(m, wanted) {
			continue
		}
		options, _ := m["options"].(map[string]any)
		text := func(key string) string {
			if options[key] == nil {
				return ""
			}
			return fmt.Sprint(options[key]) // a number if somebody edited the file
		}
		return Operand{text("image"), text("containerCommand"), text("containerPort"), text("runAsUser")}, true
	}
	return o, false
}

// PutOperand records the operand of r.
func (c *Config) PutOperand(r Resource, o Operand) {
	entry := entryOf(r, "", Features{})
	entry["options"] = plainData(o)
	c.putEntry(OperandKey, entry)
}

// CheckOperand validates the recorded operand of r.
func (c *Config) CheckOperand(r Resource) error {
	o, ok := c.Operand(r)
	if !ok {
		return nil
	}
	err := o.Check()
	if err == nil && !c.IsNamespaced(r) {
		err = fault.Usage("make the kind namespaced", "%s is cluster-scoped, and its Deployment needs a namespace", r.Kind)
	}
	if err == nil {
		err = c.CheckDeploymentKind(r)
	}
	if err != nil {
		return InPluginConfig(OperandKey, err)
	}
	return nil
}

// CheckDeploymentKind returns an error if r or another kind of the project has the names of the Deployment of
// Kubernetes, because these names then mean the kind of the project.
func (c *Config) CheckDeploymentKind(r Resource) error {
	with := &Config{Resources: append(slices.Clone(c.Resources), r)}
	if t, err := with.Target("owns", operandDeployment); err == nil && !t.Core {
		return fault.Usage("use another group or version for that kind", "--image deploys the Deployment of Kubernetes, and the project has a kind of the same name, %s", operandDeployment)
	}
	return nil
}

// ImageVariable returns the environment variable of the manager that has the image of the
// operand of r. kubebuilder uses the kind; the group is added if an earlier operand has the same kind.
func (c *Config) ImageVariable(r Resource) string {
	for _, other := range c.Resources {
		if other.Group == r.Group {
			break
		}
		if _, ok := c.Operand(other); ok && strings.EqualFold(other.Kind, r.Kind) {
			group := strings.NewReplacer("-", "_", ".", "_").Replace(r.Group)
			return strings.ToUpper(strings.TrimPrefix(group+"_"+r.Kind, "_")) + "_IMAGE"
		}
	}
	return strings.ToUpper(r.Kind) + "_IMAGE"
}

// operandDeployment is the kind that an operand's controller owns, as Target reads it.
const operandDeployment = "apps/v1/Deployment"

// operandFeatures returns the features of r's controller of that name that follow from an operand.
func (c *Config) operandFeatures(r Resource, controller string) Features {
	if _, ok := c.Operand(r); !ok || controller != r.Lower() {
		return Features{}
	}
	return Features{Owns: []string{operandDeployment}, Finalizer: true}
}

// OperandFields returns the descriptions of the fields of r that follow from an operand.
func (c *Config) OperandFields(r Resource) []string {
	o, ok := c.Operand(r)
	if !ok {
		return nil
	}
	all := []string{`size:int32,min=0,default=1,doc="number of pods"`}
	if o.ContainerPort != "" {
		all = append(all, "containerPort:int32,min=1,max=65535,default="+o.ContainerPort+`,doc="port on which the container listens"`)
	}
	return all
}

// IsOperandDeployment reports whether r is the kind that the controller of an operand owns.
func (r Resource) IsOperandDeployment() bool { return r.Core && r.targetName() == operandDeployment }
