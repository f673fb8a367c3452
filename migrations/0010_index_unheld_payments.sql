-- no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "payments_unheld" ON "payments" USING btree ("workspace_id","id") WHERE "payments"."hold_transfer_id" is null and "payments"."status" <> 'scheduled';
