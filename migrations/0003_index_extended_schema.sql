-- no transaction
ALTER TABLE "approval_voids" VALIDATE CONSTRAINT "approval_voids_reason_check";
--> statement-breakpoint
ALTER TABLE "payments" VALIDATE CONSTRAINT "payments_purpose_check";
--> statement-breakpoint
ALTER TABLE "spending_policies" VALIDATE CONSTRAINT "spending_policies_pending_check";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "identities_origin_session" ON "identities" USING btree ("origin_session_id") WHERE "identities"."origin_session_id" is not null;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "beneficiaries_verification" ON "beneficiaries" USING btree ("workspace_id","verification","id");
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "audit_log_rare" ON ONLY "audit_log" USING btree ("workspace_id","action","id") WHERE "action" not in ('payment.create', 'payment.processing', 'payment.succeeded');
--> statement-breakpoint
-- each part of audit_log without audit_log_rare
CREATE INDEX CONCURRENTLY IF NOT EXISTS "{part}_rare" ON "{part}" USING btree ("workspace_id","action","id") WHERE "action" not in ('payment.create', 'payment.processing', 'payment.succeeded');
--> statement-breakpoint
-- each part of audit_log without audit_log_rare
ALTER INDEX "audit_log_rare" ATTACH PARTITION "{part}_rare";
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "audit_log_actions" ON ONLY "audit_log" USING btree (lower("action"),"id") WHERE "action" not in ('payment.create', 'payment.processing', 'payment.succeeded');
--> statement-breakpoint
-- each part of audit_log without audit_log_actions
CREATE INDEX CONCURRENTLY IF NOT EXISTS "{part}_actions" ON "{part}" USING btree (lower("action"),"id") WHERE "action" not in ('payment.create', 'payment.processing', 'payment.succeeded');
--> statement-breakpoint
-- each part of audit_log without audit_log_actions
ALTER INDEX "audit_log_actions" ATTACH PARTITION "{part}_actions";
--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "events_rare" ON ONLY "events" USING btree (coalesce("workspace_id", "account_id"),"type","transaction","id") WHERE "type" not in ('balance.updated', 'payment.created', 'payment.processing', 'payment.succeeded');
--> statement-breakpoint
-- each part of events without events_rare
CREATE INDEX CONCURRENTLY IF NOT EXISTS "{part}_rare" ON "{part}" USING btree (coalesce("workspace_id", "account_id"),"type","transaction","id") WHERE "type" not in ('balance.updated', 'payment.created', 'payment.processing', 'payment.succeeded');
--> statement-breakpoint
-- each part of events without events_rare
ALTER INDEX "events_rare" ATTACH PARTITION "{part}_rare";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "api_keys_origin_session" ON "api_keys" USING btree ("origin_session_id") WHERE "api_keys"."origin_session_id" is not null;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "grants_origin_session" ON "grants" USING btree ("origin_session_id") WHERE "grants"."origin_session_id" is not null;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "ledger_transfers_rare" ON "ledger_transfers" USING btree ("customer_account_id",(case kind when 'pending' then 'payment_hold' when 'post' then 'payment' when 'void' then 'payment_release'
    else case reference_type when 'topup' then 'topup' when 'deposit' then 'topup' when 'payment' then 'payment_release' else 'adjustment' end end),"id") WHERE "ledger_transfers"."kind" in ('direct', 'void');
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "passkeys_origin_session" ON "passkeys" USING btree ("origin_session_id") WHERE "passkeys"."origin_session_id" is not null;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "payment_batches_status" ON "payment_batches" USING btree ("workspace_id","status","id");
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "payments_rare" ON "payments" USING btree ("status","id") WHERE "payments"."status" in ('unknown', 'rejected', 'expired', 'cancelled', 'returned');
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "payments_reference" ON "payments" USING btree ("workspace_id",upper(replace(account_reference, ' ', '')),"id") WHERE "payments"."account_reference" is not null;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "payments_paid" ON "payments" USING btree ("payee_id","id","amount_minor") WHERE "payments"."status" in ('succeeded', 'returned');
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "payments_lookalikes" ON "payments" USING btree ("payee_id",hashtextextended(coalesce(upper(replace(account_reference, ' ', '')), ''), amount_minor),"created_at");
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "payments_amount" ON "payments" USING btree ("workspace_id","amount_minor");
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "payments_purpose" ON "payments" USING btree ("workspace_id","purpose_code","id") WHERE "payments"."purpose_code" is not null;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "spending_policies_pending_change" ON "spending_policies" USING btree ("pending_change_effective_at") WHERE "spending_policies"."pending_change_effective_at" is not null;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "sessions_began_by" ON "sessions" USING btree ("began_by_identity_id") WHERE "sessions"."began_by_identity_id" is not null;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invitations_origin_session" ON "invitations" USING btree ("origin_session_id") WHERE "invitations"."origin_session_id" is not null;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invitations_invited_by" ON "invitations" USING btree ("invited_by");
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "approvals_notice_due" ON "approvals" USING btree ("notice_due_at") WHERE "approvals"."notice_due_at" is not null;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "oauth_grants_expiry" ON "oauth_grants" USING btree ("expires_at");
