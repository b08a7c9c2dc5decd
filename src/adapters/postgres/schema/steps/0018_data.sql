-- compatible with: 6
-- Adds the existing accounts to `account_listed`. This may take seconds, but locks nothing that is in use. The trigger
-- from an earlier migration adds accounts that are created in the meantime.

insert into account_listed (owner_id, created_at, id)
  select coalesce(a.parent_id, '00000000-0000-0000-0000-000000000000'), a.created_at, a.id from account a
  order by 1, 2, 3
  on conflict do nothing;

analyze account_listed;

insert into coherence_adopted (history, named_in)
  select case when s.adopted = coherence_incarnation() then s.marker::text else '' end, coherence_place() from coherence_seq s;

-- From here on, replicas of 0.1.0 call the new functions. A statement that began earlier may still be running a
-- function's old body; this migration allows 10 minutes for it.
insert into released_bodies (until)
  select case when exists (select from replica) then now() + interval '10 minutes' else '-infinity' end;
