ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_next_time_zone_check" CHECK (("workspaces"."next_time_zone" is null) = ("workspaces"."next_time_zone_from" is null)) NOT VALID;
--> statement-breakpoint
-- A period that is over keeps its days: a zone that a change replaces is kept with the time from which it decided, whichever version of the service
-- changes it. A change that is in effect is never undone, only followed by another, and none begins in the past.
create function keep_time_zone() returns trigger language plpgsql as $$
begin
  if new.next_time_zone_from <= new.updated_at and new.next_time_zone_from is distinct from old.next_time_zone_from
    or (case when old.next_time_zone_from <= new.updated_at
      then new.time_zone <> old.next_time_zone or new.next_time_zone_from is not distinct from old.next_time_zone_from
      else new.time_zone <> old.time_zone end)
  then
    raise exception 'the zone of workspace % may not change for time that is over', new.id using errcode = 'integrity_constraint_violation';
  end if;
  if new.time_zone <> old.time_zone then
    insert into workspace_time_zones (workspace_id, from_at, time_zone)
    values (new.id, new.created_at, old.time_zone), (new.id, old.next_time_zone_from, new.time_zone) on conflict do nothing;
  end if;
  return new;
end $$;
--> statement-breakpoint
create trigger workspaces_keep_time_zone before update of time_zone, next_time_zone, next_time_zone_from on workspaces for each row
  when ((new.time_zone, new.next_time_zone, new.next_time_zone_from) is distinct from (old.time_zone, old.next_time_zone, old.next_time_zone_from))
  execute function keep_time_zone();
--> statement-breakpoint
create trigger workspace_time_zones_append_only before update or delete or truncate on workspace_time_zones for each statement execute function refuse_change();
