CREATE TABLE "late_transfers" (
	"account_id" uuid NOT NULL,
	"transfer_id" uuid NOT NULL,
	"sums" text NOT NULL,
	CONSTRAINT "late_transfers_sums_account_id_transfer_id_pk" PRIMARY KEY("sums","account_id","transfer_id"),
	CONSTRAINT "late_transfers_sums_check" CHECK ("late_transfers"."sums" in ('bookings', 'payments'))
);
--> statement-breakpoint
CREATE TABLE "transfer_horizons" (
	"name" text PRIMARY KEY NOT NULL,
	"through" uuid NOT NULL,
	"next" uuid NOT NULL,
	"next_transaction" "xid8" NOT NULL
);
--> statement-breakpoint
-- A transfer whose id is behind a point is named to the sums that have passed it. Their points stay where they are until it has committed.
create function note_late_transfer() returns trigger language plpgsql as $$
begin
  insert into booking_points (name, through) values ('all', '00000000-0000-0000-0000-000000000000') on conflict (name) do nothing;
  insert into payment_points (name, through) values ('all', '00000000-0000-0000-0000-000000000000') on conflict (name) do nothing;
  insert into late_transfers (sums, account_id, transfer_id)
  select 'bookings', new.customer_account_id, new.id from (select through from booking_points where name = 'all' for share) as passed where new.id <= through;
  insert into late_transfers (sums, account_id, transfer_id)
  select 'payments', new.customer_account_id, new.id from (select through from payment_points where name = 'all' for share) as passed where new.id <= through;
  return new;
end $$;
--> statement-breakpoint
-- No point comes within 15 seconds of what a transaction that is still running may insert (settled-transfers.ts).
create trigger ledger_transfers_late before insert on ledger_transfers for each row
  when (new.id < first_id_at(clock_timestamp() - interval '15 seconds') and new.customer_account_id is not null) execute function note_late_transfer();
