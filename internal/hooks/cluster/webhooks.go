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

// Review is the unparsed `request` of an AdmissionReview or a ConversionReview.
type Review = json.RawMessage

// Handlers answer the requests of the API server.
type Handlers struct {
	// Admit returns the `response` to a request, without uid. The path identifies the
	// webhook. An error denies the request.
	Admit func(ctx context.Context, path string, r Review) (map[string]any, error)
	// Convert does the same for the conversion of objects of a CRD.
	Convert func(ctx context.Context, crd string, r Review) (map[string]any, error)
}

// Server serves webhooks over HTTPS.
type Server struct {
	URL string // without a trailing slash
	CA  []byte // PEM

	http   *http.Server
	served chan struct{}
}

// convertPath is the prefix of the URL path of a conversion webhook; the name of the
// CRD follows.
const convertPath = "/convert/"

// Serve starts a server that the API server reaches at host and port. An empty host
// means the source address of packets to the API server. Port 0 means a free port.
func (c *Cluster) Serve(host string, port int, a Handlers) (*Server, error) {
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

// Close stops the server and aborts pending requests.
func (s *Server) Close() {
	_ = s.http.Close()
	<-s.served
}

// maxReview is more than an API server sends: an object has at most 3 MB, and an update
// has two of them.
const maxReview = 64 << 20

// ServeHTTP answers a review with a review of the same version.
func (a Handlers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
		return // the API server closed the connection
	}
	review.Request, review.Response["uid"] = nil, request.UID
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}

// quiet discards the HTTP server's log of aborted connections.
var quiet = log.New(io.Discard, "", 0)
