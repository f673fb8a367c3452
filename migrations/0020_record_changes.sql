-- The transaction of a row's last change, whichever version of the service changes it. One value for all rows that exist, so none is rewritten.
ALTER TABLE "payment_batches" ADD COLUMN "changed" "xid8" DEFAULT '0' NOT NULL;
--> statement-breakpoint
ALTER TABLE "payment_batches" ALTER COLUMN "changed" SET DEFAULT pg_current_xact_id();
--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "changed" "xid8" DEFAULT '0' NOT NULL;
--> statement-breakpoint
ALTER TABLE "payments" ALTER COLUMN "changed" SET DEFAULT pg_current_xact_id();
--> statement-breakpoint
create function record_change() returns trigger language plpgsql as $$
begin
  new.changed := pg_current_xact_id();
  return new;
end $$;
--> statement-breakpoint
create trigger payment_batches_change before update on payment_batches for each row execute function record_change();
--> statement-breakpoint
create trigger payments_change before update on payments for each row execute function record_change();
