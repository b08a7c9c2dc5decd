-- compatible with: 6
-- Functions in the place of released ones. Written by `npm run generate` from schema/functions/.

-- They stand in the order of their names, and call each other.
set local check_function_bodies = off;

drop function replica_register(text, text, int);

-- api-keys/api_key_json.sql
create or replace function api_key_json(k api_key) returns jsonb language sql stable as $$
  select api_key_shown(to_jsonb(k))
$$;

-- changes/idempotency_claim.sql
create or replace function idempotency_claim(
  caller uuid, request_key bytea, request_fingerprint bytea, out outcome text, out made jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  kept_for constant interval := '24 hours';
  noted idempotency;
begin
  if not pg_try_advisory_xact_lock(hashtextextended(caller || encode(request_key, 'hex'), 0)) then
    outcome := 'in-flight';
    return;
  end if;
  select * into noted from idempotency i
    where i.caller_key_id = caller and i.key = request_key and i.at > now() - kept_for for update;
  if found then
    if current_setting('synchronous_commit') = 'off' then
      perform set_config('synchronous_commit', 'on', true);
    end if;
    outcome := case when noted.fingerprint = request_fingerprint then 'again' else 'mismatch' end;
    made := case when outcome = 'again' then noted.made end;
    return;
  end if;
  outcome := 'new';
  delete from idempotency i where i.caller_key_id = caller and i.key = request_key;
  delete from idempotency i where i.ctid = any (array(
    select e.ctid from idempotency e
    where e.at < now() - kept_for - interval '1 hour' order by e.at limit 20 for update skip locked
  ));
end $$;

-- coherence/coherence_awaited.sql
create or replace function coherence_awaited(keys text[]) returns bigint language sql volatile as $$
  select case when coherence_history() = (select h.history from coherence_adopted h) then greatest(
    (select max(l.seq) from coherence_log l where l.key = any (keys) and l.seq > a.acked),
    case when a.acked < s.floor - 1 then s.floor - 1 end
  ) else s.seq end
  from coherence_now s, (select min(r.acked) as acked from replica r) a
$$;

-- coherence/coherence_position.sql
create or replace function coherence_position() returns bigint language plpgsql volatile as $$
begin
  return (select seq from coherence_now);
end $$;

-- compat-0.1.0/account_create_sub.sql
create or replace function account_create_sub(
  new_parent uuid, new_id uuid, new_name text, new_external_id text, new_metadata jsonb, max_sub_accounts int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language sql as $$
  select * from account_create_sub(
    '{}', new_parent, new_id, new_name, new_external_id, new_metadata, max_sub_accounts
  )
$$;

-- compat-0.1.0/account_set_parent_status.sql
create or replace function account_set_parent_status(
  of_id uuid, new_status text, out outcome text, out seq bigint, out account jsonb
) language sql as $$
  select * from account_set_parent_status('{}', of_id, new_status)
$$;

-- compat-0.1.0/account_set_sub_status.sql
create or replace function account_set_sub_status(
  of_parent uuid, of_id uuid, new_status text, out outcome text, out seq bigint, out account jsonb
) language sql as $$
  select * from account_set_sub_status('{}', of_parent, of_id, new_status)
$$;

-- compat-0.1.0/account_update_sub.sql
create or replace function account_update_sub(
  of_parent uuid, of_id uuid, change jsonb, max_pairs int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language sql as $$
  select * from account_update_sub('{}', of_parent, of_id, change, max_pairs)
$$;

-- compat-0.1.0/api_key_create.sql
create or replace function api_key_create(
  of_account uuid, new_id uuid, new_name text, new_scopes jsonb, new_digest bytea, new_client_secret_digest bytea,
  new_prefix text, new_last4 text, new_expires_at timestamptz, max_keys int,
  out outcome text, out key jsonb
) language sql as $$
  select c.outcome, c.key from api_key_create(
    '{}', of_account, jsonb_build_object('id', new_id, 'name', new_name, 'scopes', new_scopes, 'digest', new_digest,
      'client_secret_digest', new_client_secret_digest, 'prefix', new_prefix, 'last4', new_last4,
      'expires_at', new_expires_at), max_keys
  ) c
$$;

-- compat-0.1.0/api_key_revoke.sql
create or replace function api_key_revoke(
  of_account uuid, of_id uuid, out outcome text, out seq bigint, out key jsonb
) language sql as $$
  select * from api_key_revoke('{}', of_account, of_id)
$$;

-- compat-0.1.0/coherence_record.sql
create or replace function coherence_record(keys text[], withdrawn text[] default '{}') returns bigint
language plpgsql as $$
begin
  return coherence_take(array(
    select case when k = any (coherence_record.withdrawn) then '-' else '+' end || k from unnest(keys) k
  ));
end $$;

-- compat-0.1.0/replica_register.sql
create or replace function replica_register(
  new_id text, new_nonce text, new_lease_ms int, new_version text, new_host text, is_leaving boolean
) returns void language plpgsql as $$
declare
  appeared boolean;
begin
  perform fleet_admit(1);
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  insert into replica (id, nonce, lease_ms, renewed_at, version, host, leaving)
    values (new_id, new_nonce, new_lease_ms, clock_timestamp(), new_version, new_host, is_leaving)
    on conflict (id) do update set nonce = excluded.nonce, lease_ms = excluded.lease_ms,
      renewed_at = excluded.renewed_at, version = excluded.version, host = excluded.host, leaving = excluded.leaving
    returning xmax = 0 into appeared;
  if appeared then
    perform from coherence_seq for no key update;
    update coherence_seq set v = coherence_position() where v < coherence_position();
  end if;
end $$;

-- compat-0.1.0/usage_add.sql
create or replace function usage_add(batch text, counts jsonb, replica text, through_ms double precision) returns void
language plpgsql as $$
declare
  is_new boolean := false;
begin
  if counts <> '[]' then
    insert into usage_batch (id) values (batch) on conflict do nothing;
    is_new := found;
  end if;
  if is_new then
    perform usage_count(array_agg(row(a.id, coalesce(a.parent_id, a.id), c.key_id, c.hour, c.hour + interval '1 hour', c.requests, c.reads,
        c.writes, c.client_errors, c.server_errors, c.bytes_in, c.bytes_out, 0, null)::usage_counted), 10000)
      from jsonb_to_recordset(counts) c (account_id uuid, key_id uuid, hour timestamptz, requests bigint, reads bigint,
        writes bigint, client_errors bigint, server_errors bigint, bytes_in bigint, bytes_out bigint)
        join account a on a.id = c.account_id;
  end if;
  insert into usage_replica (id, through, at) values (replica, to_timestamp(through_ms / 1000), now())
    on conflict (id) do update set through = greatest(usage_replica.through, excluded.through), at = now();
  delete from usage_batch b where b.at < now() - interval '2 days';
  delete from usage_replica r where r.at < now() - interval '2 days';
end $$;

-- compat-0.1.0/usage_complete_through.sql
create or replace function usage_complete_through() returns timestamptz language sql stable as $$
  select c.through from usage_completeness(interval '1 day', now(), now()) c
$$;
