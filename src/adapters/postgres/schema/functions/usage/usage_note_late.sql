-- Notes changes of closed hours. `changes` is an array of rows of `usage_hourly`; `sign` is 1 for added rows and -1
-- for removed ones.
create or replace function usage_note_late(changes jsonb, sign int) returns void language sql volatile as $$
  insert into usage_late as l (root_id, account_id, hour, requests, reads, writes, client_errors, server_errors, bytes_in, bytes_out)
    select c.root_id, c.account_id, c.hour, sign * sum(c.requests), sign * sum(c.reads), sign * sum(c.writes),
      sign * sum(c.client_errors), sign * sum(c.server_errors), sign * sum(c.bytes_in), sign * sum(c.bytes_out)
    from jsonb_populate_recordset(null::usage_hourly, changes) c group by 1, 2, 3 order by 1, 2, 3
  on conflict (account_id, hour, number) do update set
    requests = l.requests + excluded.requests, reads = l.reads + excluded.reads, writes = l.writes + excluded.writes,
    client_errors = l.client_errors + excluded.client_errors, server_errors = l.server_errors + excluded.server_errors,
    bytes_in = l.bytes_in + excluded.bytes_in, bytes_out = l.bytes_out + excluded.bytes_out
$$;
