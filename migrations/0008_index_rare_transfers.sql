-- no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "ledger_transfers_rare" ON "ledger_transfers" USING btree ("customer_account_id",(case kind when 'pending' then 'payment_hold' when 'post' then 'payment' when 'void' then 'payment_release'
    else case reference_type when 'topup' then 'topup' when 'deposit' then 'topup' when 'payment' then 'payment_release' else 'adjustment' end end),"id") WHERE "ledger_transfers"."kind" in ('direct', 'void');
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "audit_log_actions" ON ONLY "audit_log" USING btree (lower("action"),"id") WHERE "action" not in ('payment.create', 'payment.processing', 'payment.succeeded');
--> statement-breakpoint
-- each part of audit_log without audit_log_actions
CREATE INDEX CONCURRENTLY IF NOT EXISTS "{part}_actions" ON "{part}" USING btree (lower("action"),"id") WHERE "action" not in ('payment.create', 'payment.processing', 'payment.succeeded');
--> statement-breakpoint
-- each part of audit_log without audit_log_actions
ALTER INDEX "audit_log_actions" ATTACH PARTITION "{part}_actions";
