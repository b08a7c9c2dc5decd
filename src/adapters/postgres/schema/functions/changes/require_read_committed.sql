-- Fails if the transaction's isolation level is not read committed. At a higher level, a transaction keeps its first
-- snapshot, so a statement that has waited for a lock would not see changes committed during the wait. Two transactions
-- could then take the same position.
create or replace function require_read_committed() returns void language plpgsql as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using errcode = 'TG003',
      message = 'a change needs the isolation level read committed, and this transaction has '
        || current_setting('transaction_isolation'),
      hint = 'Set default_transaction_isolation to read committed for the role of the gateway.';
  end if;
end $$;
