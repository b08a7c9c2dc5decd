-- Fails in a transaction of another isolation level. Such a transaction keeps its first snapshot, so a statement
-- after a lock does not see commits from during the wait: two transactions would take one position.
create or replace function require_read_committed() returns void language plpgsql as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using errcode = 'TG003',
      message = 'a change needs the isolation level read committed, and this transaction has '
        || current_setting('transaction_isolation'),
      hint = 'Set default_transaction_isolation to read committed for the role of the gateway.';
  end if;
end $$;
