-- no transaction
ALTER TABLE "payments" VALIDATE CONSTRAINT "payments_purpose_check";--> statement-breakpoint
ALTER TABLE "spending_policies" VALIDATE CONSTRAINT "spending_policies_pending_check";--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "identities_origin_session" ON "identities" USING btree ("origin_session_id") WHERE "identities"."origin_session_id" is not null;--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "api_keys_origin_session" ON "api_keys" USING btree ("origin_session_id") WHERE "api_keys"."origin_session_id" is not null;--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "grants_origin_session" ON "grants" USING btree ("origin_session_id") WHERE "grants"."origin_session_id" is not null;--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "passkeys_origin_session" ON "passkeys" USING btree ("origin_session_id") WHERE "passkeys"."origin_session_id" is not null;--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "payments_purpose" ON "payments" USING btree ("workspace_id","purpose_code","id") WHERE "payments"."purpose_code" is not null;--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "spending_policies_pending_change" ON "spending_policies" USING btree ("pending_change_effective_at") WHERE "spending_policies"."pending_change_effective_at" is not null;--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "sessions_began_by" ON "sessions" USING btree ("began_by_identity_id") WHERE "sessions"."began_by_identity_id" is not null;--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invitations_origin_session" ON "invitations" USING btree ("origin_session_id") WHERE "invitations"."origin_session_id" is not null;
