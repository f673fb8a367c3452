-- no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "payments_paid" ON "payments" USING btree ("payee_id","id","amount_minor") WHERE "payments"."status" in ('succeeded', 'returned');
