-- What has been written to the ledger, the audit log, its seals, policy versions and given decisions stays as it was.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;
--> statement-breakpoint
create trigger ledger_transfers_append_only before update or delete or truncate on ledger_transfers for each statement execute function refuse_change();
--> statement-breakpoint
create trigger audit_log_append_only before update or delete or truncate on audit_log for each statement execute function refuse_change();
--> statement-breakpoint
create trigger audit_seals_append_only before update or delete or truncate on audit_seals for each statement execute function refuse_change();
--> statement-breakpoint
create trigger audit_seal_nodes_append_only before update or delete or truncate on audit_seal_nodes for each statement execute function refuse_change();
--> statement-breakpoint
create trigger spending_policy_versions_append_only before update or delete or truncate on spending_policy_versions for each statement execute function refuse_change();
--> statement-breakpoint
create trigger approval_decisions_append_only before update or delete or truncate on approval_decisions for each statement execute function refuse_change();
--> statement-breakpoint
create trigger approval_voids_append_only before update or delete or truncate on approval_voids for each statement execute function refuse_change();
--> statement-breakpoint
-- Events leave after their retention, but are never rewritten.
create trigger events_never_change before update on events for each statement execute function refuse_change();
--> statement-breakpoint
-- A post or a void ends exactly the hold it names: same accounts, same amount.
create function check_hold_end() returns trigger language plpgsql as $$
begin
  if not exists (
    select 1 from ledger_transfers h
    where h.id = new.pending_id and h.kind = 'pending' and h.amount_minor = new.amount_minor
      and h.debit_account_id = new.debit_account_id and h.credit_account_id = new.credit_account_id
  ) then
    raise exception 'transfer % does not end the hold it names', new.id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
--> statement-breakpoint
create trigger ledger_transfers_hold_end before insert on ledger_transfers for each row when (new.pending_id is not null) execute function check_hold_end();
--> statement-breakpoint
-- A customer's account is never re-owned, and never disappears.
create function refuse_ledger_account_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' or new.id <> old.id or new.kind <> old.kind or new.code <> old.code or new.owner_id is distinct from old.owner_id or new.currency <> old.currency then
    raise exception 'a ledger account keeps its identity' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
--> statement-breakpoint
create trigger ledger_accounts_identity before update or delete on ledger_accounts for each row execute function refuse_ledger_account_change();
--> statement-breakpoint
-- These rows change with every payment: leave room on their pages for it, and clean up soon.
alter table ledger_accounts set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 50);
--> statement-breakpoint
alter table usage_counters set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 50);
--> statement-breakpoint
-- Below this transaction no event can appear any more: everything older has ended. A transaction of another database on the same
-- server never writes events here, so it holds nothing back; one of an unknown server counts as ours.
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
--> statement-breakpoint
-- Sign-in methods end with the grant that linked them. Here, because each table's definition would need the other's.
alter table identities add constraint identities_linked_by_fk foreign key (linked_by_grant_id) references grants (id);
--> statement-breakpoint
-- Finding payments by a part of what was written on them, and payees by a part of their name. The expression is that of the search.
create extension if not exists pg_trgm;
--> statement-breakpoint
create index payments_search on payments using gin ((coalesce(account_reference, '') || ' ' || coalesce(narrative, '')) gin_trgm_ops);
--> statement-breakpoint
create index beneficiaries_search on beneficiaries using gin (display_name gin_trgm_ops);
--> statement-breakpoint
-- Events with their data: those of a payment's creation refer to its snapshot. For tests, and for people who look into the database; the
-- service's own statements have the same expression in them.
create view published_events as
  select id, transaction, type, account_id, workspace_id, created_at,
    coalesce(data, (select snapshot from payments where payments.id = events.payment_id)) as data
  from events;
