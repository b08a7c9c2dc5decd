// Package tenant reads for whom a request is, as the gateway says it. Copy this file into your service.
//
//	http.ListenAndServe(address, tenant.Require(tenant.Options{}, handler))
//	t := tenant.From(r.Context())
//
// The headers are worth what the network is worth: this rejects what does not come from the gateway's addresses.
package tenant

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// Tenant is what the gateway says of a request.
type Tenant struct {
	// ID is the UUID of the account that the request operates on: every query is about its rows.
	ID string `json:"id"`
	// ExternalID is empty where it has none.
	ExternalID string `json:"externalId"`
	// ParentID is the UUID of its parent, or its own where it is one.
	ParentID         string `json:"parentId"`
	ParentExternalID string `json:"parentExternalId"`
	// CallerID is the UUID of the account whose key was used, for audits.
	CallerID string   `json:"callerId"`
	KeyID    string   `json:"keyId"`
	Scopes   []string `json:"scopes"`
	// RequestID names the request in the gateway's log.
	RequestID string `json:"requestId"`
}

// Options of Require.
type Options struct {
	// Gateways are the networks of the gateway; the loopback ones where there are none.
	Gateways []netip.Prefix
	// Prefix is headers.prefix of the gateway; X-Service- where it is empty.
	Prefix string
	// Exempt are whole paths, such as /healthz, that may be requested from anywhere: their handlers have no tenant. Each is
	// compared with the path as it was sent; a path that is spelled in another way is not exempt.
	Exempt []string
}

var (
	uuid     = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	notPlain = regexp.MustCompile(`[^a-z0-9]`)
	loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
)

type key struct{}

// From returns for whom a request is. It panics if Require was not used or exempts the path, so that no handler runs without a tenant.
func From(ctx context.Context) Tenant {
	return ctx.Value(key{}).(Tenant)
}

// Require rejects requests that the gateway has not passed on, with 403.
func Require(options Options, next http.Handler) http.Handler {
	if len(options.Gateways) == 0 {
		options.Gateways = loopback
	}
	if options.Prefix == "" {
		options.Prefix = "X-Service-"
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(options.Exempt, r.URL.Path) && r.URL.Path == pathOf(r.RequestURI) {
			next.ServeHTTP(w, withoutReserved(options.Prefix, r))
			return
		}
		t, err := read(options, r)
		if err != nil {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(w).Encode(map[string]any{
				"type": "about:blank", "title": "Forbidden", "status": http.StatusForbidden, "detail": err.Error(),
			})
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, t)))
	})
}

func pathOf(target string) string {
	path, _, _ := strings.Cut(target, "?")
	return path
}

// withoutReserved leaves out the headers that a program could take for those that only the gateway may set.
func withoutReserved(prefix string, r *http.Request) *http.Request {
	plain := func(name string) string { return notPlain.ReplaceAllString(strings.ToLower(name), "-") }
	r = r.Clone(r.Context())
	for name := range r.Header {
		if strings.HasPrefix(plain(name), plain(prefix)) || plain(name) == "x-request-id" {
			delete(r.Header, name)
		}
	}
	return r
}

func read(options Options, r *http.Request) (t Tenant, err error) {
	if !fromGateway(options.Gateways, r.RemoteAddr) {
		return t, errors.New("This request did not come through the gateway.")
	}
	optional := func(name string) string {
		values := r.Header.Values(name)
		if len(values) > 1 {
			err = errors.New("There is more than one " + name + ".")
		}
		return strings.Join(values, ",")
	}
	required := func(name string, form *regexp.Regexp) string {
		value := optional(name)
		if err == nil && (len(r.Header.Values(name)) == 0 || form != nil && !form.MatchString(value)) {
			err = errors.New("There is no valid " + name + ".")
		}
		return value
	}
	t = Tenant{
		ID:               required(options.Prefix+"Resolved-Tenant", uuid),
		ExternalID:       optional(options.Prefix + "Resolved-External-Id"),
		ParentID:         required(options.Prefix+"Parent-Tenant", uuid),
		ParentExternalID: optional(options.Prefix + "Parent-External-Id"),
		CallerID:         required(options.Prefix+"Caller-Tenant", uuid),
		KeyID:            required(options.Prefix+"Caller-Key", uuid),
		Scopes:           strings.Fields(required(options.Prefix+"Caller-Scopes", nil)),
		RequestID:        required("X-Request-Id", nil),
	}
	return t, err
}

func fromGateway(gateways []netip.Prefix, remote string) bool {
	peer, err := netip.ParseAddrPort(remote)
	if err != nil {
		return false
	}
	for _, gateway := range gateways {
		if gateway.Contains(peer.Addr().Unmap()) {
			return true
		}
	}
	return false
}
