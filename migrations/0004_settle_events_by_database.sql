DROP INDEX "events_account";--> statement-breakpoint
CREATE INDEX "events_account" ON "events" USING btree ("account_id","transaction","id") WHERE "events"."workspace_id" is null;
--> statement-breakpoint
-- Below this transaction no event can appear any more: everything older has ended. A transaction of another database on the same
-- server never writes events here, so it holds nothing back; one that nobody can place counts as ours.
create function events_settled_before() returns xid8 language sql stable as $$
  select coalesce(
    (select running
     from pg_snapshot_xip(pg_current_snapshot()) as running
     where not exists (
       select from pg_stat_get_activity(null) backend
       where backend.backend_xid = running::xid
         and backend.datid not in (0, (select oid from pg_database where datname = current_database()))
     )
     order by running limit 1),
    pg_snapshot_xmax(pg_current_snapshot()))
$$;
