-- no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "payment_batches_changed" ON "payment_batches" USING btree ("workspace_id","changed");
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "payments_changed" ON "payments" USING btree ("workspace_id","changed");
