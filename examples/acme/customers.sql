-- Customers and their keys as `tenancy-gateway import` reads them, one JSON object a line. Acme keeps digests of keys alone,
-- which is enough. With both scopes of management a customer can make sub-accounts.
select json_build_object('type', 'account', 'id', id, 'external_id', reference, 'name', name)
from tenant where parent_id is null
union all
select json_build_object(
  'type', 'api_key', 'account_external_id', t.reference, 'sha256', encode(k.sha256, 'hex'),
  'name', k.label, 'last4', k.last4, 'scopes', array['sub_accounts:read', 'sub_accounts:write']
)
from api_key k join tenant t on t.id = k.tenant_id;
