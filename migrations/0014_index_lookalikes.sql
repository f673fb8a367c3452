-- no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "payments_lookalikes" ON "payments" USING btree ("payee_id",hashtextextended(coalesce(upper(replace(account_reference, ' ', '')), ''), amount_minor),"created_at");--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "payments_duplicates";