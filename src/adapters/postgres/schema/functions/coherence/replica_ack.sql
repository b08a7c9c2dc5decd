-- Records the position that a replica confirms. Changes wait for this commit, but it need not survive a crash: if it is
-- lost, the changes wait until the replica's lease ends. A late call with an older position does not lower the recorded
-- position.
create or replace function replica_ack(of_id text, seq bigint, closed int) returns void language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  update replica r set
    acked = greatest(r.acked, seq),
    streams_closed = case when seq > r.acked then closed when seq = r.acked then greatest(closed, r.streams_closed)
      else r.streams_closed end
    where r.id = of_id;
end $$;
