// The gateway's rule before Go's own reverse proxy, facts in a map loaded at start. A program of its own; the
// environment says where everything is. Facts are the table of facts.ts; they never change here.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

var facts = map[string]string{}

// What the upstream is told about a request.
type resolution struct{ resolved, caller, keyID, scopes, requestID string }

type resolutionKey struct{}

func main() {
	load(os.Getenv("FACTS"))
	upstream, err := url.Parse(os.Getenv("UPSTREAM"))
	if err != nil {
		log.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) { rewrite(pr, upstream) },
		Transport: &http.Transport{
			MaxIdleConns:        0,
			MaxIdleConnsPerHost: 2048,
			IdleConnTimeout:     time.Hour,
			DisableCompression:  true,
		},
		BufferPool:     buffers{&sync.Pool{New: func() any { return make([]byte, 32<<10) }}},
		ModifyResponse: tellClient,
	}
	server := &http.Server{
		Addr:        "127.0.0.1:" + os.Getenv("PORT"),
		IdleTimeout: time.Hour,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			told, status := resolve(r)
			if status != 0 {
				w.WriteHeader(status)
				return
			}
			proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), resolutionKey{}, told)))
		}),
	}
	log.Fatal(server.ListenAndServe())
}

// resolve applies the rule. The status is 0, or that of the rejection.
func resolve(r *http.Request) (*resolution, int) {
	authorization := r.Header.Get("Authorization")
	if len(authorization) < 7 || !strings.EqualFold(authorization[:7], "bearer ") {
		return nil, http.StatusUnauthorized
	}
	digest := sha256.Sum256([]byte(authorization[7:]))
	key, known := facts["k:"+base64.StdEncoding.EncodeToString(digest[:])]
	if !known {
		return nil, http.StatusUnauthorized
	}
	columns := strings.SplitN(key, " ", 4)
	account, parent := columns[0], columns[1]
	if !strings.HasSuffix(facts["a:"+account], " active") {
		return nil, http.StatusForbidden
	}
	resolve := forParent
	if parent != "-" {
		resolve = forSubAccount
	}
	resolved, status := resolve(account, parent, r)
	if status != 0 {
		return nil, status
	}
	return &resolution{resolved, account, columns[2], columns[3], newUUID()}, 0
}

func forParent(account, _ string, r *http.Request) (string, int) {
	acting := r.Header.Get("X-Service-Acting-Tenant")
	switch {
	case acting == "":
		if active, _ := strconv.Atoi(facts["n:"+account]); active > 0 && isWrite(r.Method) {
			return "", http.StatusBadRequest
		}
		return account, 0
	case acting == "self":
		return account, 0
	case strings.HasPrefix(acting, "ext:"):
		return ownActive(account, facts["x:"+account+":"+acting[4:]])
	case len(acting) == 36:
		return ownActive(account, strings.ToLower(acting))
	}
	return "", http.StatusBadRequest
}

func ownActive(account, id string) (string, int) {
	if id == account || (id != "" && facts["a:"+id] == account+" active") {
		return id, 0
	}
	return "", http.StatusForbidden
}

func forSubAccount(account, parent string, r *http.Request) (string, int) {
	acting := r.Header.Get("X-Service-Acting-Tenant")
	itself := acting == "" || acting == "self" || strings.EqualFold(acting, account) ||
		(strings.HasPrefix(acting, "ext:") && facts["x:"+parent+":"+acting[4:]] == account)
	if !itself || !strings.HasSuffix(facts["a:"+parent], " active") {
		return "", http.StatusForbidden
	}
	return account, 0
}

func isWrite(method string) bool {
	return method == "POST" || method == "PUT" || method == "PATCH" || method == "DELETE"
}

// rewrite says what the upstream gets: nothing the client may have forged, and the trusted headers last.
func rewrite(pr *httputil.ProxyRequest, upstream *url.URL) {
	told := pr.In.Context().Value(resolutionKey{}).(*resolution)
	pr.Out.URL.Scheme, pr.Out.URL.Host = upstream.Scheme, upstream.Host
	header := pr.Out.Header
	for name := range header {
		if strings.HasPrefix(name, "X-Service-") {
			delete(header, name)
		}
	}
	delete(header, "Authorization")
	pr.SetXForwarded()
	header["X-Service-Resolved-Tenant"] = []string{told.resolved}
	header["X-Service-Caller-Tenant"] = []string{told.caller}
	header["X-Service-Caller-Key"] = []string{told.keyID}
	header["X-Service-Caller-Scopes"] = []string{told.scopes}
	header["X-Request-Id"] = []string{told.requestID}
}

func tellClient(response *http.Response) error {
	told := response.Request.Context().Value(resolutionKey{}).(*resolution)
	response.Header["X-Request-Id"] = []string{told.requestID}
	response.Header["X-Service-Resolved-Tenant"] = []string{told.resolved}
	return nil
}

func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	var text [36]byte
	hex.Encode(text[0:8], b[0:4])
	hex.Encode(text[9:13], b[4:6])
	hex.Encode(text[14:18], b[6:8])
	hex.Encode(text[19:23], b[8:10])
	hex.Encode(text[24:], b[10:])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}

func load(path string) {
	file, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), " ")
		facts[key] = value
	}
}

// buffers lends what bodies are copied through, so that a request does not make 32 KB of garbage.
type buffers struct{ pool *sync.Pool }

func (b buffers) Get() []byte       { return b.pool.Get().([]byte) }
func (b buffers) Put(buffer []byte) { b.pool.Put(buffer) } //nolint:staticcheck
