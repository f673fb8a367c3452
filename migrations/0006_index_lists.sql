-- no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "beneficiaries_verification" ON "beneficiaries" USING btree ("workspace_id","verification","id");--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "payment_batches_status" ON "payment_batches" USING btree ("workspace_id","status","id");--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "payments_rare" ON "payments" USING btree ("status","id") WHERE "payments"."status" in ('unknown', 'rejected', 'expired', 'cancelled', 'returned');--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "payments_reference" ON "payments" USING btree ("workspace_id",upper(replace(account_reference, ' ', '')),"id") WHERE "payments"."account_reference" is not null;