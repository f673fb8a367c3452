-- no transaction
ALTER TABLE "hour_totals" VALIDATE CONSTRAINT "hour_totals_type_check";--> statement-breakpoint
ALTER TABLE "payments" VALIDATE CONSTRAINT "payments_fee_check";--> statement-breakpoint
ALTER TABLE "payments" VALIDATE CONSTRAINT "payments_fee_hold_check";
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "ledger_transfers_fee_key" ON "ledger_transfers" USING btree ("reference_id") WHERE "ledger_transfers"."kind" = 'direct' and "ledger_transfers"."reference_type" = 'fee';
