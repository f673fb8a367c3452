-- no transaction
CREATE INDEX IF NOT EXISTS "audit_log_rare" ON ONLY "audit_log" USING btree ("workspace_id","action","id") WHERE "action" not in ('payment.create', 'payment.processing', 'payment.succeeded');
--> statement-breakpoint
-- each part of audit_log without audit_log_rare
CREATE INDEX CONCURRENTLY IF NOT EXISTS "{part}_rare" ON "{part}" USING btree ("workspace_id","action","id") WHERE "action" not in ('payment.create', 'payment.processing', 'payment.succeeded');
--> statement-breakpoint
-- each part of audit_log without audit_log_rare
ALTER INDEX "audit_log_rare" ATTACH PARTITION "{part}_rare";
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "events_rare" ON ONLY "events" USING btree (coalesce("workspace_id", "account_id"),"type","transaction","id") WHERE "type" not in ('balance.updated', 'payment.created', 'payment.processing', 'payment.succeeded');
--> statement-breakpoint
-- each part of events without events_rare
CREATE INDEX CONCURRENTLY IF NOT EXISTS "{part}_rare" ON "{part}" USING btree (coalesce("workspace_id", "account_id"),"type","transaction","id") WHERE "type" not in ('balance.updated', 'payment.created', 'payment.processing', 'payment.succeeded');
--> statement-breakpoint
-- each part of events without events_rare
ALTER INDEX "events_rare" ATTACH PARTITION "{part}_rare";
