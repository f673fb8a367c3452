CREATE TABLE "beneficiary_verifications" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"beneficiary_id" uuid NOT NULL,
	"status" text NOT NULL,
	"name" text,
	"source" text,
	"payment_id" uuid,
	"checked_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "beneficiary_verifications_status_check" CHECK ("beneficiary_verifications"."status" in ('unverified', 'match', 'close_match', 'no_match', 'unavailable'))
);
--> statement-breakpoint
CREATE TABLE "counted_hours" (
	"name" text PRIMARY KEY NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"through" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "counted_hours_order_check" CHECK ("counted_hours"."since" <= "counted_hours"."through")
);
--> statement-breakpoint
CREATE TABLE "hour_totals" (
	"account_id" uuid NOT NULL,
	"workspace_id" uuid NOT NULL,
	"beneficiary_id" uuid NOT NULL,
	"hour" timestamp (3) with time zone NOT NULL,
	"entries" bigint NOT NULL,
	"came_in_minor" bigint NOT NULL,
	"went_out_minor" bigint NOT NULL,
	"type" text NOT NULL,
	CONSTRAINT "hour_totals_account_id_hour_workspace_id_type_beneficiary_id_pk" PRIMARY KEY("account_id","hour","workspace_id","type","beneficiary_id"),
	CONSTRAINT "hour_totals_type_check" CHECK ("hour_totals"."type" in ('topup', 'payment', 'payment_return', 'adjustment', 'made', 'opening')),
	CONSTRAINT "hour_totals_sums_check" CHECK ("hour_totals"."entries" > 0 and ("hour_totals"."came_in_minor" >= 0 or "hour_totals"."type" = 'opening') and "hour_totals"."went_out_minor" >= 0)
);
--> statement-breakpoint
CREATE TABLE "push_notices" (
	"approval_id" uuid NOT NULL,
	"subscription_id" uuid NOT NULL,
	"requested_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "push_notices_approval_id_subscription_id_pk" PRIMARY KEY("approval_id","subscription_id")
);
--> statement-breakpoint
CREATE TABLE "push_subscriptions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"session_id" uuid NOT NULL,
	"endpoint_ciphertext" "bytea" NOT NULL,
	"endpoint_key_id" text NOT NULL,
	"endpoint_hash" "bytea" NOT NULL,
	"p256dh" "bytea" NOT NULL,
	"user_agent" text,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "provider_tokens" (
	"provider" text PRIMARY KEY NOT NULL,
	"token_ciphertext" "bytea",
	"token_key_id" text,
	"expires_at" timestamp (3) with time zone,
	"begun" integer NOT NULL,
	"begun_at" timestamp (3) with time zone NOT NULL,
	"ended" integer NOT NULL,
	CONSTRAINT "provider_tokens_token_check" CHECK (num_nulls("provider_tokens"."token_ciphertext", "provider_tokens"."token_key_id", "provider_tokens"."expires_at") in (0, 3)),
	CONSTRAINT "provider_tokens_fetch_check" CHECK ("provider_tokens"."ended" <= "provider_tokens"."begun")
);
--> statement-breakpoint
CREATE TABLE "rail_pause_periods" (
	"id" uuid PRIMARY KEY NOT NULL,
	"rail" text NOT NULL,
	"began_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "rail_pause_periods_order_check" CHECK ("rail_pause_periods"."ended_at" >= "rail_pause_periods"."began_at")
);
--> statement-breakpoint
CREATE TABLE "write_losses" (
	"noticed_at" timestamp (3) with time zone PRIMARY KEY NOT NULL,
	"noticed_by" text NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"ended_by" text
);
--> statement-breakpoint
ALTER TABLE "identities" ADD COLUMN "origin_session_id" uuid;
--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "name_awaited_until" timestamp (3) with time zone;
--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "renewed_at" timestamp (3) with time zone;
--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "notice_due_at" timestamp (3) with time zone;
--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "origin_session_id" uuid;
--> statement-breakpoint
ALTER TABLE "grants" ADD COLUMN "origin_session_id" uuid;
--> statement-breakpoint
ALTER TABLE "passkeys" ADD COLUMN "origin_session_id" uuid;
--> statement-breakpoint
ALTER TABLE "payment_batches" ADD COLUMN "leaf_version" integer;
--> statement-breakpoint
ALTER TABLE "payment_batches" ADD COLUMN "duplicates_intended" boolean;
--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "purpose_code" text;
--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "batch_row" integer;
--> statement-breakpoint
ALTER TABLE "spending_policies" ADD COLUMN "pending_change" jsonb;
--> statement-breakpoint
ALTER TABLE "spending_policies" ADD COLUMN "pending_change_by" uuid;
--> statement-breakpoint
ALTER TABLE "spending_policies" ADD COLUMN "pending_change_grant_id" uuid;
--> statement-breakpoint
ALTER TABLE "spending_policies" ADD COLUMN "pending_change_at" timestamp (3) with time zone;
--> statement-breakpoint
ALTER TABLE "spending_policies" ADD COLUMN "pending_change_effective_at" timestamp (3) with time zone;
--> statement-breakpoint
ALTER TABLE "reconciliations" ADD COLUMN "account" text;
--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "began_by_identity_id" uuid;
--> statement-breakpoint
ALTER TABLE "invitations" ADD COLUMN "origin_session_id" uuid;
--> statement-breakpoint
ALTER TABLE "invitations" ADD COLUMN "origin_grant_id" uuid;
--> statement-breakpoint
ALTER TABLE "members" ADD COLUMN "deciding_since" timestamp (3) with time zone;
--> statement-breakpoint
ALTER TABLE "members" ADD COLUMN "requesting_since" timestamp (3) with time zone;
--> statement-breakpoint
ALTER TABLE "suspense_items" ADD COLUMN "proposed_outcome" text;
--> statement-breakpoint
ALTER TABLE "suspense_items" ADD COLUMN "proposed_by" text;
--> statement-breakpoint
ALTER TABLE "approval_voids" DROP CONSTRAINT "approval_voids_reason_check";
--> statement-breakpoint
ALTER TABLE "beneficiary_verifications" ADD CONSTRAINT "beneficiary_verifications_beneficiary_id_beneficiaries_id_fk" FOREIGN KEY ("beneficiary_id") REFERENCES "public"."beneficiaries"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "push_notices" ADD CONSTRAINT "push_notices_approval_id_approvals_id_fk" FOREIGN KEY ("approval_id") REFERENCES "public"."approvals"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "push_subscriptions" ADD CONSTRAINT "push_subscriptions_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "push_subscriptions" ADD CONSTRAINT "push_subscriptions_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "beneficiary_verifications_beneficiary" ON "beneficiary_verifications" USING btree ("beneficiary_id","id");
--> statement-breakpoint
CREATE INDEX "beneficiary_verifications_account" ON "beneficiary_verifications" USING btree ("account_id","checked_at");
--> statement-breakpoint
CREATE UNIQUE INDEX "push_subscriptions_endpoint_key" ON "push_subscriptions" USING btree ("endpoint_hash");
--> statement-breakpoint
CREATE INDEX "push_subscriptions_account" ON "push_subscriptions" USING btree ("account_id","id");
--> statement-breakpoint
CREATE INDEX "push_subscriptions_session" ON "push_subscriptions" USING btree ("session_id");
--> statement-breakpoint
CREATE INDEX "rail_pause_periods_rail" ON "rail_pause_periods" USING btree ("rail","began_at");
--> statement-breakpoint
CREATE UNIQUE INDEX "rail_pause_periods_open_key" ON "rail_pause_periods" USING btree ("rail") WHERE "rail_pause_periods"."ended_at" is null;
--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_purpose_check" CHECK ("payments"."purpose_code" ~ '^[A-Z]{4}$') NOT VALID;
--> statement-breakpoint
ALTER TABLE "spending_policies" ADD CONSTRAINT "spending_policies_pending_check" CHECK (num_nulls("spending_policies"."pending_change", "spending_policies"."pending_change_by", "spending_policies"."pending_change_at", "spending_policies"."pending_change_effective_at") in (0, 4)) NOT VALID;
--> statement-breakpoint
ALTER TABLE "approval_voids" ADD CONSTRAINT "approval_voids_reason_check" CHECK ("approval_voids"."reason" in ('approver', 'wallet', 'passkey', 'mandate', 'text')) NOT VALID;
