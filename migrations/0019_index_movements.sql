-- no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "provider_movements_reconciliation" ON "provider_movements" USING btree ("reconciliation_id","provider");
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "provider_movements_receipt_key" ON "provider_movements" USING btree ("provider",upper("receipt")) WHERE "provider_movements"."receipt" is not null;
--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "provider_movements_key" ON "provider_movements" USING btree ("provider",coalesce("account", ''),"kind","moved_at","amount_minor") WHERE "provider_movements"."receipt" is null;
