package bundle

import (
	"bytes"
	"encoding/base64"
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
)

// mediaTypes are the types of icons that catalogs show, by file extension, with the bytes
// that files start with.
var mediaTypes = map[string]struct{ name, start string }{
	".gif":  {"image/gif", "GIF8"},
	".jpeg": {"image/jpeg", "\xff\xd8\xff"},
	".jpg":  {"image/jpeg", "\xff\xd8\xff"},
	".png":  {"image/png", "\x89PNG\r\n\x1a\n"},
	".svg":  {"image/svg+xml", ""},
}

// IconType returns the media type of an icon in a file, such as image/png. It is an error if
// catalogs do not show it, or if the file has another format.
func IconType(file string, data []byte) (string, error) {
	as, ok := mediaTypes[path.Ext(file)]
	switch {
	case !ok:
		return "", fault.In(file, fault.Usage("use SVG, PNG, JPEG or GIF", "catalogs do not show an icon of this type"))
	case !bytes.HasPrefix(data, []byte(as.start)), as.start == "" && !bytes.Contains(data, []byte("<svg")):
		return "", fault.In(file, fault.Usage("save it in that format, or rename it", "the icon is not in the format %s", as.name))
	}
	return as.name, nil
}

// DecodeIcon decodes the data of an icon as opm does, which ignores white space.
func DecodeIcon(data string) ([]byte, error) {
	return base64.StdEncoding.DecodeString(strings.Join(strings.Fields(data), ""))
}
