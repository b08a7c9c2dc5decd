"""The life of a sub-account, by a generated client."""

import json
import os
import time
import uuid

import httpx
from tenancy_gateway_client import AuthenticatedClient
from tenancy_gateway_client.api.api_keys import mint_api_key, revoke_api_key, rotate_api_key
from tenancy_gateway_client.api.sub_accounts import create_sub_account, get_sub_account, list_sub_accounts
from tenancy_gateway_client.api.usage import get_usage
from tenancy_gateway_client.models import CreateSubAccount, MintApiKey, RotateApiKey

url, key = os.environ["GATEWAY_URL"], os.environ["API_KEY"]
client = AuthenticatedClient(base_url=url, token=key)


def once():
    return str(uuid.uuid4())


def code_of(response):
    return [response.status_code.value, response.parsed.code]


ada = CreateSubAccount(name="Ada", external_id="ada-python")
made = create_sub_account.sync(client=client, body=ada, idempotency_key=once())
found, cursor = set(), {}
while True:
    page = list_sub_accounts.sync(client=client, limit=100, **cursor)
    found.update(account.id for account in page.data)
    if page.next_cursor is None:
        break
    cursor = {"cursor": page.next_cursor}

headers = {"Authorization": f"Bearer {key}", "X-Service-Acting-Tenant": "ext:ada-python"}
own = httpx.post(f"{url}/shipments", headers=headers, content="x")
requests = 0
for _ in range(100):
    requests = sum(row.requests for row in get_usage.sync(client=client, sub_account_id=made.id).data)
    if requests:
        break
    time.sleep(0.2)

minted = mint_api_key.sync(made.id, client=client, body=MintApiKey(name="first", scopes=["a:b"]), idempotency_key=once())
rotated = rotate_api_key.sync(made.id, minted.id, client=client, body=RotateApiKey(expires_in=0), idempotency_key=once())
revoked = revoke_api_key.sync(made.id, rotated.id, client=client, idempotency_key=once())

unknown = get_sub_account.sync_detailed(uuid.UUID("01a1ff7b-9a25-7526-9c43-62236b0a8586"), client=client)
taken = create_sub_account.sync_detailed(client=client, body=ada, idempotency_key=once())
result = {
    "made": [made.name, made.status.value],
    "listed": made.id in found and len(found),
    "acted_as": own.headers["x-service-resolved-tenant"] == str(made.id),
    "usage": requests,
    "minted": [minted.scopes, len(minted.api_key) > 20],
    "rotated": rotated.rotated_from == minted.id and rotated.api_key != minted.api_key,
    "revoked": revoked.status.value,
    "unknown": code_of(unknown),
    "taken": code_of(taken),
}
print(json.dumps(result))
