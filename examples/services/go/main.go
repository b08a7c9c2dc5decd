// Shipments, each tenant's own: DATABASE_URL=… PORT=3000 go run .
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"log"
	"net/http"
	"net/netip"
	"os"
	"strings"

	"example.com/shipping/tenant"
	_ "github.com/lib/pq"
)

type shipment struct {
	ID          int64  `json:"id"`
	Destination string `json:"destination"`
}

// asTenant runs a query as a tenant: PostgreSQL shows it that tenant's rows and no others.
func asTenant(ctx context.Context, db *sql.DB, query string, values ...any) ([]shipment, error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err = tx.ExecContext(ctx, "set local role shipping_service"); err != nil {
		return nil, err
	}
	if _, err = tx.ExecContext(ctx, "select set_config('app.tenant', $1, true)", tenant.From(ctx).ID); err != nil {
		return nil, err
	}
	rows, err := tx.QueryContext(ctx, query, values...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := []shipment{}
	for rows.Next() {
		var s shipment
		if err = rows.Scan(&s.ID, &s.Destination); err != nil {
			return nil, err
		}
		found = append(found, s)
	}
	if err = rows.Err(); err != nil {
		return nil, err
	}
	return found, tx.Commit()
}

func main() {
	db, err := sql.Open("postgres", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	respond := func(w http.ResponseWriter, status int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	fail := func(w http.ResponseWriter, err error) {
		log.Print(err)
		http.Error(w, "The service failed.", http.StatusInternalServerError)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		// For a probe: the names of the headers that it sent.
		names := []string{}
		for name := range r.Header {
			names = append(names, name)
		}
		respond(w, http.StatusOK, map[string]any{"headers": names})
	})
	mux.HandleFunc("GET /me", func(w http.ResponseWriter, r *http.Request) {
		respond(w, http.StatusOK, tenant.From(r.Context()))
	})
	mux.HandleFunc("GET /shipments", func(w http.ResponseWriter, r *http.Request) {
		found, err := asTenant(r.Context(), db, "select id, destination from shipment order by id")
		if err != nil {
			fail(w, err)
			return
		}
		respond(w, http.StatusOK, found)
	})
	mux.HandleFunc("POST /shipments", func(w http.ResponseWriter, r *http.Request) {
		var asked shipment
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, "The body is not JSON.", http.StatusBadRequest)
			return
		}
		insert := "insert into shipment (destination) values ($1) returning id, destination"
		made, err := asTenant(r.Context(), db, insert, asked.Destination)
		if err != nil {
			fail(w, err)
			return
		}
		respond(w, http.StatusCreated, made[0])
	})

	options := tenant.Options{Exempt: []string{"/healthz"}}
	for _, gateway := range strings.FieldsFunc(os.Getenv("GATEWAYS"), func(c rune) bool { return c == ',' }) {
		options.Gateways = append(options.Gateways, netip.MustParsePrefix(gateway))
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), tenant.Require(options, mux)))
}
