-- compatible with: 4
-- What names a history of the database, and what a request gets that is sent again. Functions and one small table:
-- nothing that is in use is locked.
--
-- Replicas of 0.1.0 may run beside this version. They call `coherence_incarnation` and keep `coherence_seq.adopted`;
-- both stay as they are, since a name that changed under a running replica would make it forget everything and end
-- its streams.

-- Names the history that positions belong to: the incarnation, the database and the table. Two databases of one
-- cluster that are copies of each other have the same incarnation; so has one that was dropped and restored.
create function coherence_history() returns text language sql stable as $$
  select concat_ws(
    '-', coherence_incarnation(), (select d.oid from pg_database d where d.datname = current_database()), s.tableoid
  ) from coherence_seq s
$$;

-- The newest history of which it is known that no lease from before it is left. A copy brings the name of the
-- database it was copied from along, so it is not adopted.
create table coherence_adopted (
  one boolean primary key default true check (one),
  history text not null
);
insert into coherence_adopted (history)
  select case when s.adopted = coherence_incarnation() then coherence_history() else '' end from coherence_seq s;

-- As in 0008, but for the history.
create or replace function coherence_awaited(keys text[]) returns bigint language sql volatile as $$
  select case when s.adopted = coherence_incarnation()
    and coherence_history() = (select h.history from coherence_adopted h) then greatest(
    (select max(l.seq) from coherence_log l where l.key = any (keys) and l.seq > a.acked),
    case when a.acked < s.floor - 1 then s.floor - 1 end
  ) else s.seq end
  from coherence_now s, (select min(r.acked) as acked from replica r) a
$$;

-- As in 0005, but for the lock on what was noted: it makes the commit of a request that is sent again wait for the
-- disk and for a synchronous standby. The first attempt may have been committed by a server that went away before its
-- standby had it.
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

-- Whether the change may go on: null. Otherwise the outcome of the whole change: 'again' with what an earlier request
-- made or set, 'mismatch' or 'in-flight'. Sent again, a request never acts again: what it set may have been undone on
-- purpose since. `made` is null where a replica of 0.1.0 noted that a state was set. To be called before anything is
-- locked, see `idempotency_claim`.
create or replace function change_begin(request jsonb, out outcome text, out made jsonb) language plpgsql as $$
#variable_conflict use_column
declare
  claim constant jsonb := request -> 'claim';
begin
  if claim is null then
    return;
  end if;
  select nullif(c.outcome, 'new'), c.made into outcome, made
    from idempotency_claim(
      (claim ->> 'caller')::uuid, decode(claim ->> 'key', 'hex'), decode(claim ->> 'fingerprint', 'hex')
    ) c;
end $$;

-- As in 0007, but for what a request gets that is sent again: the record as it was set then.

create or replace function account_set_sub_status(
  request jsonb, of_parent uuid, of_id uuid, new_status text, out outcome text, out seq bigint, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  active_before int;
  active_after int;
  made account;
  log_key text := 'a:' || of_id;
begin
  select b.outcome, b.made into outcome, account from change_begin(request) b;
  if outcome is not null then
    if outcome = 'again' then
      seq := coherence_position();
      account := coalesce(
        account, (select to_jsonb(a) from account a where a.id = of_id and a.parent_id = of_parent)
      );
    end if;
    return;
  end if;
  select a.active_sub_accounts into active_before from account a where a.id = of_parent for no key update;
  select * into made from account a where a.id = of_id and a.parent_id = of_parent for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  outcome := 'done';
  if made.status = new_status then
    perform change_note(request, to_jsonb(made));
    seq := coherence_position();
  else
    update account a
      set status = new_status, updated_at = now(),
        deactivated_at = case when new_status = 'deactivated' then now() end
      where a.id = of_id returning * into made;
    active_after := active_before + case when new_status = 'active' then 1 else -1 end;
    update account a set active_sub_accounts = active_after where a.id = of_parent;
    perform change_note(request, to_jsonb(made));
    seq := coherence_record(
      array_remove(array[log_key, case when 0 in (active_before, active_after) then 'n:' || of_parent end], null),
      case when new_status = 'deactivated' then array[log_key] else '{}' end
    );
  end if;
  account := to_jsonb(made);
end $$;

create or replace function account_set_parent_status(
  request jsonb, of_id uuid, new_status text, out outcome text, out seq bigint, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made account;
  log_key text := 'a:' || of_id;
begin
  select b.outcome, b.made into outcome, account from change_begin(request) b;
  if outcome is not null then
    if outcome = 'again' then
      seq := coherence_position();
      account := coalesce(account, (select to_jsonb(a) from account a where a.id = of_id and a.parent_id is null));
    end if;
    return;
  end if;
  select * into made from account a where a.id = of_id and a.parent_id is null for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  outcome := 'done';
  if made.status = new_status then
    perform change_note(request, to_jsonb(made));
    seq := coherence_position();
  else
    update account a set status = new_status, updated_at = now() where a.id = of_id returning * into made;
    perform change_note(request, to_jsonb(made));
    seq := coherence_record(
      array[log_key], case when new_status = 'suspended' then array[log_key] else '{}' end
    );
  end if;
  account := to_jsonb(made);
end $$;

create or replace function api_key_revoke(
  request jsonb, of_account uuid, of_id uuid, out outcome text, out seq bigint, out key jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made api_key;
begin
  select b.outcome, b.made into outcome, key from change_begin(request) b;
  if outcome is not null then
    if outcome = 'again' then
      seq := coherence_position();
      key := coalesce(
        key, (select api_key_json(k) from api_key k where k.id = of_id and k.account_id = of_account)
      );
    end if;
    return;
  end if;
  select * into made from api_key k where k.id = of_id and k.account_id = of_account for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;
  outcome := 'done';
  if made.revoked_at is not null then
    perform change_note(request, api_key_json(made));
    seq := coherence_position();
  else
    update api_key k set revoked_at = now() where k.id = of_id returning * into made;
    perform change_note(request, api_key_json(made));
    seq := coherence_record(array[api_key_log_key(made.digest)], array[api_key_log_key(made.digest)]);
  end if;
  key := api_key_json(made);
end $$;
