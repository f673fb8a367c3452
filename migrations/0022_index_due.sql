-- no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "payments_due" ON "payments" USING btree ("workspace_id","execute_at","amount_minor","fee_minor") WHERE "payments"."status" = 'scheduled';
