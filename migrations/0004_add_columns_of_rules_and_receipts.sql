CREATE TABLE "approval_views" (
	"approval_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"opened_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "approval_views_approval_id_account_id_pk" PRIMARY KEY("approval_id","account_id")
);
--> statement-breakpoint
CREATE TABLE "operator_invitations" (
	"subject_key" text PRIMARY KEY NOT NULL,
	"invited_by" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "mails" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid,
	"workspace_id" uuid,
	"cause" text NOT NULL,
	"kind" text NOT NULL,
	"subject_kind" text,
	"subject_id" uuid,
	"address_ciphertext" "bytea" NOT NULL,
	"address_key_id" text NOT NULL,
	"language" text NOT NULL,
	"content" jsonb NOT NULL,
	"state" text NOT NULL,
	"due_at" timestamp (3) with time zone,
	"tries" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "mails_state_check" CHECK ("mails"."state" in ('due', 'sent', 'given_up', 'refused')),
	CONSTRAINT "mails_due_check" CHECK (("mails"."state" = 'due') = ("mails"."due_at" is not null))
);
--> statement-breakpoint
CREATE TABLE "notification_settings" (
	"account_id" uuid PRIMARY KEY NOT NULL,
	"approvals_email" boolean NOT NULL,
	"approvals_push" boolean NOT NULL,
	"lists_email" boolean NOT NULL,
	"balance_email" boolean NOT NULL,
	"policies_email" boolean NOT NULL,
	"language" text NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "notification_settings_language_check" CHECK ("notification_settings"."language" in ('en', 'sw'))
);
--> statement-breakpoint
CREATE TABLE "provider_alerts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"fingerprint" text NOT NULL,
	"rail" text NOT NULL,
	"subject_kind" text NOT NULL,
	"subject_id" uuid NOT NULL,
	"word" text NOT NULL,
	"receipt" text,
	"amount_minor" bigint,
	"delivery_id" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	"resolved_at" timestamp (3) with time zone,
	"resolved_by" text,
	"note" text
);
--> statement-breakpoint
CREATE TABLE "provider_movements" (
	"id" uuid PRIMARY KEY NOT NULL,
	"provider" text NOT NULL,
	"account" text,
	"kind" text NOT NULL,
	"receipt" text,
	"amount_minor" bigint NOT NULL,
	"moved_at" timestamp (3) with time zone NOT NULL,
	"note" text NOT NULL,
	"named_by" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "provider_movements_kind_check" CHECK ("provider_movements"."kind" in ('settlement', 'bank_transfer', 'charges')),
	CONSTRAINT "provider_movements_amount_check" CHECK ("provider_movements"."amount_minor" <> 0)
);
--> statement-breakpoint
CREATE TABLE "receipt_claims" (
	"provider" text NOT NULL,
	"direction" text NOT NULL,
	"receipt_key" text NOT NULL,
	"owner_kind" text NOT NULL,
	"owner_id" uuid NOT NULL,
	"amount_minor" bigint,
	"claimed_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "receipt_claims_provider_direction_receipt_key_pk" PRIMARY KEY("provider","direction","receipt_key"),
	CONSTRAINT "receipt_claims_direction_check" CHECK ("receipt_claims"."direction" in ('in', 'out', 'return')),
	CONSTRAINT "receipt_claims_owner_check" CHECK ("receipt_claims"."owner_kind" in ('payment', 'topup', 'deposit', 'suspense')),
	CONSTRAINT "receipt_claims_key_check" CHECK ("receipt_claims"."receipt_key" = upper("receipt_claims"."receipt_key"))
);
--> statement-breakpoint
CREATE TABLE "send_logs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"process" text NOT NULL,
	"started_at" timestamp (3) with time zone NOT NULL,
	"seen_at" timestamp (3) with time zone NOT NULL,
	"stopped_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "balance_separations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"amount_minor" bigint NOT NULL,
	"requested_by" uuid NOT NULL,
	"message" text NOT NULL,
	"requested_at" timestamp (3) with time zone NOT NULL,
	"effective_at" timestamp (3) with time zone NOT NULL,
	"outcome" text,
	"ended_at" timestamp (3) with time zone,
	"ended_by" uuid,
	CONSTRAINT "balance_separations_amount_check" CHECK ("balance_separations"."amount_minor" >= 0),
	CONSTRAINT "balance_separations_outcome_check" CHECK (("balance_separations"."outcome" is null) = ("balance_separations"."ended_at" is null))
);
--> statement-breakpoint
CREATE TABLE "balance_shortages" (
	"workspace_id" uuid NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"hours" bigint NOT NULL,
	"missing_minor" bigint NOT NULL,
	"scheduled_minor" bigint NOT NULL,
	"told_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "balance_shortages_workspace_id_due_at_hours_pk" PRIMARY KEY("workspace_id","due_at","hours")
);
--> statement-breakpoint
CREATE TABLE "separation_confirmations" (
	"separation_id" uuid NOT NULL,
	"workspace_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"signed" boolean NOT NULL,
	"signer" text,
	"signature" text,
	"confirmed_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "separation_confirmations_key" PRIMARY KEY("separation_id","workspace_id","account_id")
);
--> statement-breakpoint
CREATE TABLE "session_acts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"session_id" uuid NOT NULL,
	"grant_id" uuid,
	"workspace_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"record_id" uuid NOT NULL,
	"before" text,
	"after" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "session_acts_kind_check" CHECK ("session_acts"."kind" in ('member', 'role', 'workspace', 'widened', 'loosened'))
);
--> statement-breakpoint
CREATE TABLE "workspace_time_zones" (
	"workspace_id" uuid NOT NULL,
	"from_at" timestamp (3) with time zone NOT NULL,
	"time_zone" text NOT NULL,
	CONSTRAINT "workspace_time_zones_workspace_id_from_at_pk" PRIMARY KEY("workspace_id","from_at")
);
--> statement-breakpoint
ALTER TABLE "passkeys" DROP CONSTRAINT "passkeys_backup_check";
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "holder_of_workspace_id" uuid;
--> statement-breakpoint
ALTER TABLE "identities" ADD COLUMN "mail_refused_at" timestamp (3) with time zone;
--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "text_version" integer;
--> statement-breakpoint
ALTER TABLE "grants" ADD COLUMN "total_limit_minor" bigint;
--> statement-breakpoint
ALTER TABLE "grants" ADD COLUMN "total_seeded_at" timestamp (3) with time zone;
--> statement-breakpoint
ALTER TABLE "installation" ADD COLUMN "upgrade_finished_at" timestamp (3) with time zone;
--> statement-breakpoint
ALTER TABLE "payment_batches" ADD COLUMN "fees_minor" bigint;
--> statement-breakpoint
ALTER TABLE "payment_batches" ADD COLUMN "again_of" uuid;
--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "fee_minor" bigint;
--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "fee_hold_transfer_id" uuid;
--> statement-breakpoint
ALTER TABLE "spending_policies" ADD COLUMN "total_limit_minor" bigint;
--> statement-breakpoint
ALTER TABLE "spending_policies" ADD COLUMN "total_counted_since" timestamp (3) with time zone;
--> statement-breakpoint
ALTER TABLE "spending_policies" ADD COLUMN "approver_ids" uuid[];
--> statement-breakpoint
ALTER TABLE "spending_policies" ADD COLUMN "pending_change_result" jsonb;
--> statement-breakpoint
ALTER TABLE "spending_policies" ADD COLUMN "pending_change_version" integer;
--> statement-breakpoint
ALTER TABLE "spending_policies" ADD COLUMN "pending_change_message" text;
--> statement-breakpoint
ALTER TABLE "push_subscriptions" ADD COLUMN "vapid_key" text;
--> statement-breakpoint
ALTER TABLE "balance_queries" ADD COLUMN "charges_account_minor" bigint;
--> statement-breakpoint
ALTER TABLE "reconciliations" ADD COLUMN "charges_minor" bigint;
--> statement-breakpoint
ALTER TABLE "reconciliations" ADD COLUMN "fees_minor" bigint;
--> statement-breakpoint
ALTER TABLE "members" ADD COLUMN "invitation_id" uuid;
--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "balance_account_id" uuid;
--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "separated_at" timestamp (3) with time zone;
--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "origin_session_id" uuid;
--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "origin_grant_id" uuid;
--> statement-breakpoint
ALTER TABLE "approval_views" ADD CONSTRAINT "approval_views_approval_id_approvals_id_fk" FOREIGN KEY ("approval_id") REFERENCES "public"."approvals"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "approval_views" ADD CONSTRAINT "approval_views_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "notification_settings" ADD CONSTRAINT "notification_settings_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "balance_separations" ADD CONSTRAINT "balance_separations_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "balance_shortages" ADD CONSTRAINT "balance_shortages_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "separation_confirmations" ADD CONSTRAINT "separation_confirmations_separation_id_balance_separations_id_fk" FOREIGN KEY ("separation_id") REFERENCES "public"."balance_separations"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "separation_confirmations" ADD CONSTRAINT "separation_confirmations_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "separation_confirmations" ADD CONSTRAINT "separation_confirmations_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "session_acts" ADD CONSTRAINT "session_acts_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "workspace_time_zones" ADD CONSTRAINT "workspace_time_zones_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
CREATE UNIQUE INDEX "mails_cause_key" ON "mails" USING btree ("cause");
--> statement-breakpoint
CREATE INDEX "mails_due" ON "mails" USING btree ("due_at") WHERE "mails"."due_at" is not null;
--> statement-breakpoint
CREATE INDEX "mails_subject" ON "mails" USING btree ("subject_id") WHERE "mails"."subject_id" is not null;
--> statement-breakpoint
CREATE UNIQUE INDEX "provider_alerts_fingerprint_key" ON "provider_alerts" USING btree ("fingerprint");
--> statement-breakpoint
CREATE INDEX "provider_alerts_open" ON "provider_alerts" USING btree ("id") WHERE "provider_alerts"."resolved_at" is null;
--> statement-breakpoint
CREATE INDEX "provider_alerts_subject" ON "provider_alerts" USING btree ("subject_id");
--> statement-breakpoint
CREATE INDEX "provider_movements_moved" ON "provider_movements" USING btree ("provider","moved_at");
--> statement-breakpoint
CREATE INDEX "receipt_claims_owner" ON "receipt_claims" USING btree ("owner_id");
--> statement-breakpoint
CREATE UNIQUE INDEX "balance_separations_open_key" ON "balance_separations" USING btree ("workspace_id") WHERE "balance_separations"."outcome" is null;
--> statement-breakpoint
CREATE INDEX "balance_separations_due" ON "balance_separations" USING btree ("effective_at") WHERE "balance_separations"."outcome" is null;
--> statement-breakpoint
CREATE INDEX "session_acts_session" ON "session_acts" USING btree ("session_id","id");
