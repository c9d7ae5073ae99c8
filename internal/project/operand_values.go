package project

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/operon-dev/operon/internal/fault"
)

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
	if _, err := name.ParseReference(o.Image); err != nil || strings.Contains(o.Image, "://") {
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
	user, err := strconv.ParseUint(o.RunAsUser, 10, 64)
	switch {
	case o.RunAsUser == "":
	case o.RunAsUser == "0":
		return fault.Usage("use another user, or omit the flag, if the image names a user by its number", "--run-as-user 0 is root, which the restricted security context of the container excludes")
	case err != nil || user > maxUserID || o.RunAsUser[0] == '0': // Go would read 010 as octal
		return fault.Usage("use a number from 1 to "+strconv.Itoa(maxUserID), "--run-as-user %q is not a user ID", o.RunAsUser)
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
