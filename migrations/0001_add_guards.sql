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
-- Where a period begins among the ids: they begin with their milliseconds (UUIDv7).
create function first_id_at(at timestamptz) returns uuid language sql immutable parallel safe as $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
$$;
--> statement-breakpoint
create function time_of_id(id uuid) returns timestamptz language sql immutable parallel safe as $$
  select to_timestamp(('x' || lpad(left(replace(id::text, '-', ''), 12), 16, '0'))::bit(64)::bigint / 1000.0)
$$;
--> statement-breakpoint
-- The periods of a divided table, and where each ends. The part for ids outside of all periods is not among them.
create function periods_of(divided regclass) returns table (part regclass, begins timestamptz, ends timestamptz) language sql stable as $$
  select i.inhrelid::regclass, time_of_id(bound[1]::uuid), time_of_id(bound[2]::uuid)
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
    cross join regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \(''([0-9a-f-]+)''\) TO \(''([0-9a-f-]+)''\)') as bound
  where i.inhparent = divided and bound is not null
$$;
--> statement-breakpoint
-- Creates the periods of a divided table up to a time, behind those that exist, and answers how many. With the owner's rights, for the role of the
-- service creates no tables. A period whose rows are already in the default part stays there: nothing that is written waits for
-- this. It gives up after 200 ms, for a reader of the default part (a dump for one) holds up everybody behind it meanwhile.
create function create_periods(divided text, unit text, through timestamptz, since timestamptz default now()) returns integer
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '200ms' set timezone = 'UTC' as $$
declare
  begins timestamptz;
  ends timestamptz;
  part text;
  guard text;
  created integer := 0;
begin
  if divided not in ('events', 'audit_log', 'callback_bodies') or unit not in ('week', 'month') then
    raise exception 'create_periods does not know % by %', divided, unit using errcode = 'invalid_parameter_value';
  end if;
  select greatest(max(p.ends), date_trunc(unit, since)) into begins from periods_of(divided::regclass) p;
  if begins >= through then return 0; end if;
  -- One process at a time: the next one finds what this one has created.
  execute format('lock table %I in share update exclusive mode', divided);
  select greatest(max(p.ends), date_trunc(unit, since)) into begins from periods_of(divided::regclass) p;
  while begins < through loop
    ends := date_trunc(unit, begins) + ('1 ' || unit)::interval;
    part := divided || to_char(begins, '_YYYYMMDD');
    begin
      execute format('create table %I (like %I including all)', part, divided);
      for guard in select pg_get_triggerdef(t.oid) from pg_trigger t where t.tgrelid = divided::regclass and not t.tgisinternal and t.tgtype & 1 = 0 loop
        execute regexp_replace(guard, ' ON (public\.)?' || divided || ' ', format(' ON %I ', part));
      end loop;
      execute format('alter table %I attach partition %I for values from (%L) to (%L)', divided, part, first_id_at(begins), first_id_at(ends));
      created := created + 1;
    exception when check_violation then null;
    end;
    begins := ends;
  end loop;
  return created;
end $$;
--> statement-breakpoint
-- Drops (or, to be archived, detaches) the periods that ended before a time, and answers their names. Never one that still receives rows,
-- never the audit log, and never a body that waits to be processed. With the owner's rights, as above.
create function drop_periods(divided text, before timestamptz, keep boolean default false) returns setof text
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '200ms' as $$
declare
  period record;
begin
  if divided not in ('events', 'callback_bodies') then
    raise exception 'drop_periods does not know %', divided using errcode = 'invalid_parameter_value';
  end if;
  for period in select * from periods_of(divided::regclass) p where p.ends <= least(before, now()) order by p.begins loop
    if divided = 'callback_bodies' and exists (
      select from callback_deliveries d where (d.processed_at is null or d.verdict = 'unbookable')
        and d.id >= first_id_at(period.begins) and d.id < first_id_at(period.ends)) then continue;
    end if;
    execute format('alter table %I detach partition %s', divided, period.part);
    if not keep then execute format('drop table %s', period.part); end if;
    return next period.part::text;
  end loop;
end $$;
--> statement-breakpoint
-- Only the role of the service may call them (see the command that grants it its rights).
revoke all on function create_periods(text, text, timestamptz, timestamptz), drop_periods(text, timestamptz, boolean) from public;
--> statement-breakpoint
create table events_default partition of events default;
--> statement-breakpoint
create table audit_log_default partition of audit_log default;
--> statement-breakpoint
create table callback_bodies_default partition of callback_bodies default;
--> statement-breakpoint
create trigger audit_log_default_append_only before update or delete or truncate on audit_log_default for each statement execute function refuse_change();
--> statement-breakpoint
create trigger events_default_never_change before update on events_default for each statement execute function refuse_change();
--> statement-breakpoint
select create_periods('events', 'week', now() + interval '10 days'), create_periods('audit_log', 'month', now() + interval '35 days'),
  create_periods('callback_bodies', 'month', now() + interval '35 days');
