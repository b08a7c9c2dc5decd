// The life of a sub-account, by a generated client.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"example.com/life/gateway"
	"github.com/google/uuid"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	url, key := os.Getenv("GATEWAY_URL"), os.Getenv("API_KEY")
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	client := must(gateway.NewClientWithResponses(url, gateway.WithRequestEditorFn(authorize)))
	once := func() *string {
		text := uuid.NewString()
		return &text
	}

	name, limit := "ada-go", 100
	ada := gateway.CreateSubAccount{Name: "Ada", ExternalId: &name}
	made := must(client.CreateSubAccountWithResponse(ctx, &gateway.CreateSubAccountParams{IdempotencyKey: once()}, ada)).JSON201
	found := map[string]bool{}
	for params := (gateway.ListSubAccountsParams{Limit: &limit}); ; {
		page := must(client.ListSubAccountsWithResponse(ctx, &params)).JSON200
		for _, account := range page.Data {
			found[account.Id.String()] = true
		}
		if page.NextCursor == nil {
			break
		}
		params.Cursor = page.NextCursor
	}

	request := must(http.NewRequest("POST", url+"/shipments", strings.NewReader("x")))
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("X-Service-Acting-Tenant", "ext:"+name)
	own := must(http.DefaultClient.Do(request))
	requests := 0
	for tries := 0; requests == 0 && tries < 100; tries++ {
		report := must(client.GetUsageWithResponse(ctx, &gateway.GetUsageParams{SubAccountId: &made.Id})).JSON200
		for _, row := range report.Data {
			requests += row.Requests
		}
		if requests == 0 {
			time.Sleep(200 * time.Millisecond)
		}
	}

	scopes := []string{"a:b"}
	mint := gateway.MintApiKey{Name: "first", Scopes: &scopes}
	minted := must(client.MintApiKeyWithResponse(ctx, made.Id, &gateway.MintApiKeyParams{IdempotencyKey: once()}, mint)).JSON201
	rotate := gateway.RotateApiKey{ExpiresIn: 0}
	rotated := must(client.RotateApiKeyWithResponse(ctx, made.Id, minted.Id, &gateway.RotateApiKeyParams{IdempotencyKey: once()}, rotate)).JSON201
	revoked := must(client.RevokeApiKeyWithResponse(ctx, made.Id, rotated.Id, &gateway.RevokeApiKeyParams{IdempotencyKey: once()})).JSON200

	unknown := must(client.GetSubAccountWithResponse(ctx, uuid.MustParse("01a1ff7b-9a25-7526-9c43-62236b0a8586"), nil))
	taken := must(client.CreateSubAccountWithResponse(ctx, &gateway.CreateSubAccountParams{IdempotencyKey: once()}, ada))
	result := map[string]any{
		"made":     []any{made.Name, made.Status},
		"listed":   len(found),
		"acted_as": own.Header.Get("X-Service-Resolved-Tenant") == made.Id.String(),
		"usage":    requests,
		"minted":   []any{minted.Scopes, len(*minted.ApiKey) > 20},
		"rotated":  *rotated.RotatedFrom == minted.Id && *rotated.ApiKey != *minted.ApiKey,
		"revoked":  revoked.Status,
		"unknown":  []any{unknown.StatusCode(), unknown.ApplicationproblemJSON404.Code},
		"taken":    []any{taken.StatusCode(), taken.ApplicationproblemJSON409.Code},
	}
	fmt.Println(string(must(json.Marshal(result))))
}
