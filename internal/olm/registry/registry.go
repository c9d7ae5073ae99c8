// Package registry serves a catalog to the Operator Lifecycle Manager (OLM) over gRPC, as
// `opm serve` does.
//
// It implements the methods that OLM calls: those that list and get packages and bundles, and
// the health check. It uses HTTP/2 of net/http: google.golang.org/grpc would add 1.7 MB to
// operon for these few messages without metadata, compression or deadlines.
package registry

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/operon-dev/operon/internal/olm/catalog"
)

// Content is what a registry serves. Its bundles have their manifests in properties, or an
// image.
type Content struct {
	Package catalog.Package
	Channel catalog.Channel
	Bundle  catalog.Bundle
}

// Server serves a catalog.
type Server struct {
	http *http.Server
	done chan struct{}
}

// Serve serves a catalog on a listener, without TLS, until Close.
func Serve(l net.Listener, c Content) (*Server, error) {
	messages, err := encode(c)
	if err != nil {
		return nil, err
	}
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	s := &Server{
		http: &http.Server{Handler: messages, Protocols: &protocols, ReadHeaderTimeout: 10 * time.Second},
		done: make(chan struct{}),
	}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l) // always fails, at the latest when the server is closed
	}()
	return s, nil
}

// Close ends the server and all connections.
func (s *Server) Close() {
	_ = s.http.Close()
	<-s.done
}

// messages are the encoded answers.
type messages struct {
	pkg, channel, csv string
	name              []byte // PackageName
	details           []byte // Package
	bundle            []byte // Bundle
}

func encode(c Content) (*messages, error) {
	b, err := encodeBundle(c)
	if err != nil {
		return nil, err
	}
	var channel, name, details message
	channel.text(1, c.Channel.Name)
	channel.text(2, c.Bundle.Name)
	name.text(1, c.Package.Name)
	details.text(1, c.Package.Name)
	details.message(2, channel)
	details.text(3, c.Package.DefaultChannel)
	return &messages{pkg: c.Package.Name, channel: c.Channel.Name, csv: c.Bundle.Name, name: name, details: details, bundle: b}, nil
}

// encodeBundle returns the message Bundle of registry.proto in operator-registry.
func encodeBundle(c Content) (message, error) {
	var m message
	m.text(1, c.Bundle.Name)
	m.text(2, c.Package.Name)
	m.text(3, c.Channel.Name)
	m.text(6, c.Bundle.Image)
	for _, p := range c.Bundle.Properties {
		if err := m.property(p); err != nil {
			return nil, fmt.Errorf("property %s: %w", p.Type, err)
		}
	}
	for _, e := range c.Channel.Entries {
		if e.Name == c.Bundle.Name {
			m.text(10, e.SkipRange)
			m.text(13, e.Replaces)
			for _, name := range e.Skips {
				m.text(14, name)
			}
		}
	}
	return m, nil
}

// property adds what a property of a bundle says.
func (m *message) property(p catalog.Property) error {
	value, err := json.Marshal(p.Value)
	if err != nil {
		return err
	}
	var fields struct {
		Group, Version, Kind      string
		PackageName, VersionRange string
		Data                      []byte
	}
	_ = json.Unmarshal(value, &fields) // other properties have other values
	switch p.Type {
	case catalog.PropertyObject:
		return m.object(fields.Data)
	case catalog.PropertyCSVMetadata:
		return nil // for consoles
	case catalog.PropertyPackage:
		m.text(9, fields.Version)
	case catalog.PropertyGVK:
		m.message(7, newMessage(fields.Group, fields.Version, fields.Kind))
	case catalog.PropertyGVKRequired:
		m.message(8, newMessage(fields.Group, fields.Version, fields.Kind))
		m.message(11, newMessage(catalog.PropertyGVK, string(value)))
	case catalog.PropertyPackageRequired:
		required, err := json.Marshal(map[string]string{"packageName": fields.PackageName, "version": fields.VersionRange})
		if err != nil {
			return err
		}
		m.message(11, newMessage(catalog.PropertyPackage, string(required)))
	}
	m.message(12, newMessage(p.Type, string(value)))
	return nil
}

// object adds a manifest of the bundle.
func (m *message) object(manifest []byte) error {
	var header struct{ Kind string }
	if err := json.Unmarshal(manifest, &header); err != nil {
		return err
	}
	if header.Kind == "ClusterServiceVersion" {
		m.text(4, string(manifest))
	}
	m.text(5, string(manifest))
	return nil
}

// The status codes of gRPC that this server answers with.
//
// https://grpc.github.io/grpc/core/md_doc_statuscodes.html
const (
	statusOK                = 0
	statusNotFound          = 5
	statusResourceExhausted = 8  // a message that is too large
	statusUnimplemented     = 12 // a method, or a compression
	statusInternal          = 13 // a request that is not a message
)

// ServeHTTP answers a call.
func (a *messages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
	request, status, text := readMessage(r.Body)
	var answer []byte
	if status == statusOK {
		answer, status, text = a.answer(r.URL.EscapedPath(), request) // Grpc-Message is percent-encoded
	}
	if status == statusOK {
		_ = writeMessage(w, answer) // the client is gone otherwise
	}
	w.Header().Set("Grpc-Status", strconv.Itoa(status))
	w.Header().Set("Grpc-Message", text)
}

// answer returns the only message that answers a call. Calls that stream several messages
// stream one, because there is one package with one bundle.
func (a *messages) answer(method string, request message) (answer []byte, status int, text string) {
	wanted := func(field int, name string) bool { s := request.find(field); return s == "" || s == name }
	found := func(answer []byte, ok bool) ([]byte, int, string) {
		if !ok {
			return nil, statusNotFound, "the catalog does not have it"
		}
		return answer, statusOK, ""
	}
	switch method {
	case "/api.Registry/ListPackages":
		return a.name, statusOK, ""
	case "/api.Registry/ListBundles":
		return a.bundle, statusOK, ""
	case "/api.Registry/GetPackage":
		return found(a.details, wanted(1, a.pkg))
	case "/api.Registry/GetBundle":
		return found(a.bundle, wanted(1, a.pkg) && wanted(2, a.channel) && wanted(3, a.csv))
	case "/api.Registry/GetBundleForChannel":
		return found(a.bundle, wanted(1, a.pkg) && wanted(2, a.channel))
	case "/grpc.health.v1.Health/Check":
		return []byte{1 << 3, 1}, statusOK, "" // status: SERVING
	}
	return nil, statusUnimplemented, "this catalog does not serve the method " + method
}

// maxRequest is the size of the largest request, in bytes. Requests have a few names.
const maxRequest = 1 << 16

// readMessage reads a message with the prefix of gRPC: one byte that says whether it is
// compressed, and four bytes for its length. It returns a status and its text if that fails.
func readMessage(r io.Reader) (m message, status int, text string) {
	var prefix [5]byte
	_, err := io.ReadFull(r, prefix[:])
	size := binary.BigEndian.Uint32(prefix[1:])
	switch {
	case err != nil:
	case prefix[0] != 0:
		return nil, statusUnimplemented, "this catalog accepts no compressed messages"
	case size > maxRequest:
		return nil, statusResourceExhausted, "the request is too large"
	default:
		m = make(message, size)
		_, err = io.ReadFull(r, m)
	}
	if err != nil {
		return nil, statusInternal, "the request is not a message"
	}
	return m, statusOK, ""
}

func writeMessage(w io.Writer, m []byte) error {
	prefix := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(m)))
	_, err := w.Write(append(prefix, m...))
	return err
}
