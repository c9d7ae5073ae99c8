package cluster

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"
)

// Review is a request of the API server, of admission.k8s.io or
// apiextensions.k8s.io, as it came: the content of `request`.
type Review = json.RawMessage

// Answers are what hooks say to requests of the API server.
type Answers struct {
	// Admit answers a request for a webhook, given by the path under which it was
	// registered: the content of `response`, without a uid. An error denies it.
	Admit func(ctx context.Context, path string, r Review) (map[string]any, error)
	// Convert does so for the objects of a CRD.
	Convert func(ctx context.Context, crd string, r Review) (map[string]any, error)
}

// Server serves webhooks over HTTPS.
type Server struct {
	URL string // without a slash at its end
	CA  []byte // PEM

	http   *http.Server
	served chan struct{}
}

// convertPath comes before the names of CRDs in paths.
const convertPath = "/convert/"

// Serve starts a server that an API server finds at host ("" means the address of
// this machine that packets to it come from) and port (0 means a free one).
func (c *Cluster) Serve(host string, port int, a Answers) (*Server, error) {
	host, listen, err := c.Address(host)
	if err != nil {
		return nil, err
	}
	own, err := NewCertificate(host)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(own.Cert, own.Key)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(listen, fmt.Sprint(port)))
	if err != nil {
		return nil, err
	}
	_, chosen, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return nil, err
	}
	s := &Server{
		URL: "https://" + net.JoinHostPort(host, chosen), CA: own.CA, served: make(chan struct{}),
		http: &http.Server{Handler: a, ReadHeaderTimeout: 10 * time.Second, TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, ErrorLog: quiet},
	}
	go func() {
		defer close(s.served)
		_ = s.http.ServeTLS(listener, "", "") // ends with Close
	}()
	return s, nil
}

// Close ends the server, and requests that are not answered yet.
func (s *Server) Close() {
	_ = s.http.Close()
	<-s.served
}

// maxReview is more than an API server sends: an object has 3 MB at most, and an
// update two of them.
const maxReview = 64 << 20

// ServeHTTP answers a review with one of the same version.
func (a Answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Request    Review         `json:"request,omitempty"`
		Response   map[string]any `json:"response,omitempty"`
	}
	err := json.NewDecoder(io.LimitReader(r.Body, maxReview)).Decode(&review)
	if err != nil || r.Method != http.MethodPost || review.Request == nil {
		http.Error(w, "send a review", http.StatusBadRequest)
		return
	}
	var request struct{ UID string }
	if err := json.Unmarshal(review.Request, &request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if crd, conversion := strings.CutPrefix(r.URL.Path, convertPath); conversion {
		review.Response, err = a.Convert(r.Context(), crd, review.Request)
		if err != nil {
			review.Response = map[string]any{"result": map[string]any{"status": "Failure", "message": err.Error()}}
		}
	} else {
		review.Response, err = a.Admit(r.Context(), r.URL.Path, review.Request)
		if err != nil {
			review.Response = map[string]any{"allowed": false, "status": map[string]any{"code": http.StatusInternalServerError, "message": err.Error()}}
		}
	}
	if errors.Is(r.Context().Err(), context.Canceled) {
		return // nobody waits for it
	}
	review.Request, review.Response["uid"] = nil, request.UID
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}

// quiet drops what the HTTP server says of connections that others broke off.
var quiet = log.New(io.Discard, "", 0)
