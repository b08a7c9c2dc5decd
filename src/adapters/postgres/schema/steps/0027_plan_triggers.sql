-- compatible with: 6
-- locks for a moment: plan
-- Triggers write the events of plans and touch their facts, whichever statement changes them.

create trigger plan_changed after insert or update or delete on plan for each row execute function plan_changed();
create constraint trigger plan_commit after insert or update or delete on plan deferrable initially deferred
  for each row execute function change_commit();
