CREATE TABLE "accounts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"status" text DEFAULT 'active' NOT NULL,
	"email" text,
	"display_name" text,
	"topups_enabled" boolean DEFAULT true NOT NULL,
	"payments_enabled" boolean DEFAULT true NOT NULL,
	"api_keys_enabled" boolean DEFAULT true NOT NULL,
	"oauth_enabled" boolean DEFAULT true NOT NULL,
	"is_admin" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "accounts_status_check" CHECK ("accounts"."status" in ('active', 'frozen', 'closed'))
);
--> statement-breakpoint
CREATE TABLE "identities" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"provider" text NOT NULL,
	"issuer" text NOT NULL,
	"subject" text NOT NULL,
	"subject_key" text NOT NULL,
	"email" text,
	"email_verified" boolean DEFAULT false NOT NULL,
	"display_name" text,
	"chain_id" bigint,
	"linked_by_grant_id" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	CONSTRAINT "identities_provider_check" CHECK ("identities"."provider" in ('google', 'github', 'wallet')),
	CONSTRAINT "identities_chain_check" CHECK ("identities"."chain_id" is null or "identities"."provider" = 'wallet')
);
--> statement-breakpoint
CREATE TABLE "adjustments" (
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"status" text NOT NULL,
	"account_id" uuid NOT NULL,
	"payment_id" uuid,
	"amount_minor" bigint NOT NULL,
	"currency" text NOT NULL,
	"reason" text NOT NULL,
	"requested_by" text NOT NULL,
	"decided_by" text,
	"transfer_id" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	"decided_at" timestamp (3) with time zone,
	CONSTRAINT "adjustments_kind_check" CHECK ("adjustments"."kind" in ('balance', 'payment_failed', 'late_success_written_off')),
	CONSTRAINT "adjustments_payment_check" CHECK (("adjustments"."kind" = 'balance') = ("adjustments"."payment_id" is null)),
	CONSTRAINT "adjustments_status_check" CHECK ("adjustments"."status" in ('pending', 'posted', 'rejected', 'cancelled')),
	CONSTRAINT "adjustments_amount_check" CHECK ("adjustments"."amount_minor" <> 0),
	CONSTRAINT "adjustments_posted_check" CHECK (("adjustments"."status" = 'posted' and "adjustments"."kind" = 'balance') = ("adjustments"."transfer_id" is not null))
);
--> statement-breakpoint
CREATE TABLE "approval_decisions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"approval_id" uuid NOT NULL,
	"owning_account_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"decision" text NOT NULL,
	"via" text NOT NULL,
	"reason" text,
	"signer" text,
	"signature" text,
	"message" text,
	"passkey_id" uuid,
	"passkey_proof" jsonb,
	"decided_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "approval_decisions_via_check" CHECK ("approval_decisions"."via" in ('credential', 'signature', 'mandate', 'passkey')),
	CONSTRAINT "approval_decisions_proof_check" CHECK (("approval_decisions"."via" = 'credential') = ("approval_decisions"."signature" is null)
        and ("approval_decisions"."via" = 'credential') = ("approval_decisions"."message" is null)
        and ("approval_decisions"."via" in ('signature', 'mandate')) = ("approval_decisions"."signer" is not null)
        and ("approval_decisions"."via" = 'passkey') = ("approval_decisions"."passkey_id" is not null)
        and ("approval_decisions"."via" = 'passkey') = ("approval_decisions"."passkey_proof" is not null))
);
--> statement-breakpoint
CREATE TABLE "approval_voids" (
	"decision_id" uuid PRIMARY KEY NOT NULL,
	"owning_account_id" uuid NOT NULL,
	"reason" text NOT NULL,
	"voided_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "approval_voids_reason_check" CHECK ("approval_voids"."reason" in ('approver', 'wallet', 'passkey', 'mandate'))
);
--> statement-breakpoint
CREATE TABLE "approvals" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"payment_id" uuid NOT NULL,
	"batch_id" uuid,
	"status" text NOT NULL,
	"required_approvals" integer NOT NULL,
	"separation_of_duties" boolean NOT NULL,
	"approval_proof" text NOT NULL,
	"initiating_grant_id" uuid,
	"policy_versions" jsonb NOT NULL,
	"beneficiary_name" text NOT NULL,
	"approve_message" text NOT NULL,
	"reject_message" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "approvals_proof_check" CHECK ("approvals"."approval_proof" in ('any', 'signature')),
	CONSTRAINT "approvals_required_check" CHECK ("approvals"."required_approvals" > 0)
);
--> statement-breakpoint
CREATE TABLE "beneficiaries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"payee_id" uuid NOT NULL,
	"type" text NOT NULL,
	"display_name" text NOT NULL,
	"legal_name" text,
	"payment_rail" text NOT NULL,
	"destination_ciphertext" "bytea" NOT NULL,
	"destination_key_id" text NOT NULL,
	"destination_mask" text NOT NULL,
	"account_reference_required" boolean DEFAULT false NOT NULL,
	"account_reference" text,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"bank_code" text,
	"created_by" uuid NOT NULL,
	"created_by_grant_id" uuid,
	"created_by_label" text,
	"changed_by" uuid,
	"changed_by_grant_id" uuid,
	"changed_by_label" text,
	"changed_at" timestamp (3) with time zone,
	"verification" text DEFAULT 'unverified' NOT NULL,
	"reported_name" text,
	"name_source" text,
	"name_checked_at" timestamp (3) with time zone,
	"name_check_due_at" timestamp (3) with time zone,
	"name_checks" integer DEFAULT 0 NOT NULL,
	"result_name" text,
	"similar_to_id" uuid,
	"confirmed_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"archived_at" timestamp (3) with time zone,
	CONSTRAINT "beneficiaries_verification_check" CHECK ("beneficiaries"."verification" in ('unverified', 'match', 'close_match', 'no_match', 'unavailable')),
	CONSTRAINT "beneficiaries_rail_check" CHECK ("beneficiaries"."payment_rail" in ('MPESA_B2B', 'MPESA_B2C', 'PESALINK')),
	CONSTRAINT "beneficiaries_account_reference_check" CHECK ("beneficiaries"."account_reference" is null or "beneficiaries"."payment_rail" in ('MPESA_B2B'))
);
--> statement-breakpoint
CREATE TABLE "payees" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"fingerprint" "bytea" NOT NULL,
	"fingerprint_key_id" text NOT NULL,
	"paybill_id" uuid,
	"reference_key" text,
	"frozen_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "payees_account_check" CHECK (num_nonnulls("payees"."paybill_id", "payees"."reference_key") in (0, 2))
);
--> statement-breakpoint
CREATE TABLE "deposit_registrations" (
	"rail" text PRIMARY KEY NOT NULL,
	"address_hash" "bytea" NOT NULL,
	"registered_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "deposits" (
	"id" uuid PRIMARY KEY NOT NULL,
	"rail" text NOT NULL,
	"provider" text NOT NULL,
	"receipt" text NOT NULL,
	"amount_minor" bigint NOT NULL,
	"currency" text NOT NULL,
	"reference" text NOT NULL,
	"payer_name" text,
	"state" text NOT NULL,
	"source" text NOT NULL,
	"topup_id" uuid,
	"suspense_id" uuid,
	"body_ciphertext" "bytea",
	"body_key_id" text,
	"paid_at" timestamp (3) with time zone NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"settled_at" timestamp (3) with time zone,
	CONSTRAINT "deposits_amount_check" CHECK ("deposits"."amount_minor" > 0),
	CONSTRAINT "deposits_body_check" CHECK (num_nulls("deposits"."body_ciphertext", "deposits"."body_key_id") in (0, 2)),
	CONSTRAINT "deposits_state_check" CHECK (("deposits"."state" = 'received') = ("deposits"."settled_at" is null) and ("deposits"."state" <> 'suspense' or "deposits"."suspense_id" is not null))
);
--> statement-breakpoint
CREATE TABLE "audit_log" (
	"id" uuid PRIMARY KEY NOT NULL,
	"transaction" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"action" text NOT NULL,
	"account_id" uuid,
	"credential_kind" text,
	"credential_id" uuid,
	"grant_id" uuid,
	"workspace_id" uuid,
	"subject_type" text,
	"subject_id" uuid,
	"before" json,
	"after" json,
	"inputs" "bytea",
	"ip" text,
	"user_agent" text,
	"request_id" text
) PARTITION BY RANGE ("id");
--> statement-breakpoint
CREATE TABLE "audit_seal_nodes" (
	"level" integer NOT NULL,
	"place" bigint NOT NULL,
	"hash" "bytea" NOT NULL,
	CONSTRAINT "audit_seal_nodes_level_place_pk" PRIMARY KEY("level","place")
);
--> statement-breakpoint
CREATE TABLE "audit_seals" (
	"sequence" bigint PRIMARY KEY NOT NULL,
	"through_transaction" "xid8" NOT NULL,
	"through_id" uuid NOT NULL,
	"rows" integer NOT NULL,
	"rows_root" "bytea" NOT NULL,
	"digest" "bytea" NOT NULL,
	"hash" "bytea" NOT NULL,
	"key_id" text NOT NULL,
	"sealed_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" uuid PRIMARY KEY NOT NULL,
	"transaction" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	"type" text NOT NULL,
	"account_id" uuid NOT NULL,
	"workspace_id" uuid,
	"data" json,
	"payment_id" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "events_data_check" CHECK (num_nonnulls("events"."data", "events"."payment_id") > 0)
) PARTITION BY RANGE ("id");
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"scope" "bytea" NOT NULL,
	"body_hash" "bytea" NOT NULL,
	"status" integer NOT NULL,
	"response" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_scope_pk" PRIMARY KEY("scope")
);
--> statement-breakpoint
CREATE TABLE "signing_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"public_key" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"retired_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "stream_places" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"root_grant_id" uuid,
	"renewed_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"workspace_id" uuid NOT NULL,
	"grant_id" uuid NOT NULL,
	"name" text NOT NULL,
	"lookup" text NOT NULL,
	"salt" "bytea" NOT NULL,
	"hash" "bytea" NOT NULL,
	"last_four" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "grants" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"workspace_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"label" text NOT NULL,
	"permissions" text[] NOT NULL,
	"parent_grant_id" uuid,
	"ancestor_ids" uuid[] NOT NULL,
	"derived_from_grant_id" uuid,
	"per_payment_limit_minor" bigint,
	"daily_limit_minor" bigint,
	"monthly_limit_minor" bigint,
	"approval_threshold_minor" bigint,
	"payment_types" text[],
	"beneficiary_ids" uuid[],
	"new_payees" text,
	"on_duplicate" text,
	"frozen_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "grants_kind_check" CHECK ("grants"."kind" in ('api_key', 'oauth')),
	CONSTRAINT "grants_new_payees_check" CHECK ("grants"."new_payees" is null or "grants"."new_payees" in ('allow', 'require_approval', 'deny')),
	CONSTRAINT "grants_on_duplicate_check" CHECK ("grants"."on_duplicate" is null or "grants"."on_duplicate" in ('warn', 'confirm', 'require_approval', 'deny')),
	CONSTRAINT "grants_parent_check" CHECK (("grants"."parent_grant_id" is null) = (cardinality("grants"."ancestor_ids") = 0))
);
--> statement-breakpoint
CREATE TABLE "installation" (
	"one" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"id" uuid NOT NULL,
	"currency" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "installation_one_check" CHECK ("installation"."one")
);
--> statement-breakpoint
CREATE TABLE "installation_keys" (
	"ring" text NOT NULL,
	"key_id" text NOT NULL,
	"check_value" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "installation_keys_ring_key_id_pk" PRIMARY KEY("ring","key_id")
);
--> statement-breakpoint
CREATE TABLE "clearing_points" (
	"name" text PRIMARY KEY NOT NULL,
	"through" uuid NOT NULL,
	"came_in_minor" bigint NOT NULL,
	"went_out_minor" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ledger_accounts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"owner_id" uuid,
	"code" text NOT NULL,
	"currency" text NOT NULL,
	"posted_debits_minor" bigint DEFAULT 0 NOT NULL,
	"posted_credits_minor" bigint DEFAULT 0 NOT NULL,
	"pending_debits_minor" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "ledger_accounts_no_overdraft" CHECK ("ledger_accounts"."kind" <> 'customer' or "ledger_accounts"."posted_credits_minor" - "ledger_accounts"."posted_debits_minor" - "ledger_accounts"."pending_debits_minor" >= 0),
	CONSTRAINT "ledger_accounts_totals_check" CHECK ("ledger_accounts"."posted_debits_minor" >= 0 and "ledger_accounts"."posted_credits_minor" >= 0 and "ledger_accounts"."pending_debits_minor" >= 0)
);
--> statement-breakpoint
CREATE TABLE "ledger_transfers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"amount_minor" bigint NOT NULL,
	"available_after_minor" bigint,
	"created_at" timestamp (3) with time zone NOT NULL,
	"kind" text NOT NULL,
	"pending_id" uuid,
	"debit_account_id" uuid NOT NULL,
	"credit_account_id" uuid NOT NULL,
	"reference_type" text NOT NULL,
	"reference_id" uuid NOT NULL,
	"customer_account_id" uuid,
	"memo" text,
	CONSTRAINT "ledger_transfers_amount_check" CHECK ("ledger_transfers"."amount_minor" > 0),
	CONSTRAINT "ledger_transfers_kind_check" CHECK (("ledger_transfers"."kind" in ('post', 'void')) = ("ledger_transfers"."pending_id" is not null)),
	CONSTRAINT "ledger_transfers_sides_check" CHECK ("ledger_transfers"."debit_account_id" <> "ledger_transfers"."credit_account_id")
);
--> statement-breakpoint
CREATE TABLE "intent_mandates" (
	"id" uuid PRIMARY KEY NOT NULL,
	"status" text NOT NULL,
	"account_id" uuid NOT NULL,
	"workspace_id" uuid NOT NULL,
	"grant_id" uuid,
	"description" text NOT NULL,
	"max_total_minor" bigint NOT NULL,
	"max_per_payment_minor" bigint,
	"max_payments" bigint,
	"beneficiary_ids" uuid[] NOT NULL,
	"payment_types" text[] NOT NULL,
	"valid_from" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"nonce" text NOT NULL,
	"terms_digest" text NOT NULL,
	"message" text NOT NULL,
	"signature" text NOT NULL,
	"signer" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "intent_mandates_total_check" CHECK ("intent_mandates"."max_total_minor" > 0)
);
--> statement-breakpoint
CREATE TABLE "oauth_access_tokens" (
	"id" uuid PRIMARY KEY NOT NULL,
	"grant_id" uuid NOT NULL,
	"generation" integer NOT NULL,
	"hash" "bytea" NOT NULL,
	"scopes" text[] NOT NULL,
	"resources" text[] NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"rotated_at" timestamp(6) with time zone DEFAULT clock_timestamp() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "oauth_authorizations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"client_id" uuid NOT NULL,
	"flow" text NOT NULL,
	"status" text NOT NULL,
	"scopes" text[] NOT NULL,
	"resources" text[] NOT NULL,
	"requested_controls" jsonb,
	"redirect_uri" text,
	"state" text,
	"code_challenge" text,
	"request_uri_hash" "bytea",
	"device_code_hash" "bytea",
	"user_code" text,
	"poll_interval_seconds" integer,
	"last_polled_at" timestamp (3) with time zone,
	"account_id" uuid,
	"session_id" uuid,
	"grant_id" uuid,
	"code_hash" "bytea",
	"code_expires_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"decided_at" timestamp (3) with time zone,
	"redeemed_at" timestamp (3) with time zone,
	CONSTRAINT "oauth_authorizations_flow_check" CHECK ("oauth_authorizations"."flow" in ('code', 'device')),
	CONSTRAINT "oauth_authorizations_status_check" CHECK ("oauth_authorizations"."status" in ('pushed', 'pending', 'approved', 'denied', 'redeemed')),
	CONSTRAINT "oauth_authorizations_code_check" CHECK ("oauth_authorizations"."flow" = 'device' or ("oauth_authorizations"."redirect_uri" is not null and "oauth_authorizations"."code_challenge" is not null)),
	CONSTRAINT "oauth_authorizations_device_check" CHECK ("oauth_authorizations"."flow" = 'code' or ("oauth_authorizations"."device_code_hash" is not null and "oauth_authorizations"."user_code" is not null and "oauth_authorizations"."poll_interval_seconds" is not null)),
	CONSTRAINT "oauth_authorizations_grant_check" CHECK (("oauth_authorizations"."grant_id" is not null) = ("oauth_authorizations"."status" in ('approved', 'redeemed')))
);
--> statement-breakpoint
CREATE TABLE "oauth_clients" (
	"id" uuid PRIMARY KEY NOT NULL,
	"url" text,
	"name" text NOT NULL,
	"redirect_uris" text[] NOT NULL,
	"grant_types" text[] NOT NULL,
	"auth_method" text NOT NULL,
	"secret_hash" text,
	"scopes" text[],
	"uri" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"fresh_until" timestamp (3) with time zone,
	CONSTRAINT "oauth_clients_secret_check" CHECK (("oauth_clients"."auth_method" = 'none') = ("oauth_clients"."secret_hash" is null)),
	CONSTRAINT "oauth_clients_url_check" CHECK ("oauth_clients"."url" is null or "oauth_clients"."auth_method" = 'none'),
	CONSTRAINT "oauth_clients_auth_method_check" CHECK ("oauth_clients"."auth_method" in ('none', 'client_secret_basic', 'client_secret_post'))
);
--> statement-breakpoint
CREATE TABLE "oauth_grants" (
	"grant_id" uuid PRIMARY KEY NOT NULL,
	"client_id" uuid NOT NULL,
	"resources" text[] NOT NULL,
	"detailed" boolean NOT NULL,
	"handle" text NOT NULL,
	"generation" integer NOT NULL,
	"key_id" text NOT NULL,
	"current_hash" "bytea",
	"expires_at" timestamp (3) with time zone NOT NULL,
	"ends_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "passkeys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"name" text NOT NULL,
	"credential_id" text NOT NULL,
	"cose_key" "bytea" NOT NULL,
	"public_key" jsonb NOT NULL,
	"sign_count" bigint NOT NULL,
	"backup_eligible" boolean NOT NULL,
	"backed_up" boolean NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	CONSTRAINT "passkeys_sign_count_check" CHECK ("passkeys"."sign_count" >= 0),
	CONSTRAINT "passkeys_backup_check" CHECK ("passkeys"."backup_eligible" or not "passkeys"."backed_up")
);
--> statement-breakpoint
CREATE TABLE "payment_batches" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"status" text NOT NULL,
	"name" text,
	"metadata" jsonb NOT NULL,
	"items_count" integer NOT NULL,
	"total_minor" bigint NOT NULL,
	"currency" text NOT NULL,
	"merkle_root" text NOT NULL,
	"approval_id" uuid,
	"execute_at" timestamp (3) with time zone,
	"initiator_account_id" uuid NOT NULL,
	"grant_id" uuid,
	"snapshot" "bytea" NOT NULL,
	"idempotency_key" text,
	"request_hash" "bytea",
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"completed_at" timestamp (3) with time zone,
	CONSTRAINT "payment_batches_key_check" CHECK (("payment_batches"."idempotency_key" is null) = ("payment_batches"."request_hash" is null)),
	CONSTRAINT "payment_batches_status_check" CHECK ("payment_batches"."status" in ('scheduled', 'pending_approval', 'processing', 'completed', 'failed', 'rejected', 'expired', 'cancelled')),
	CONSTRAINT "payment_batches_items_check" CHECK ("payment_batches"."items_count" > 0 and "payment_batches"."total_minor" > 0)
);
--> statement-breakpoint
CREATE TABLE "payment_refusals" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"initiator_account_id" uuid NOT NULL,
	"grant_id" uuid,
	"beneficiary_id" uuid,
	"amount_minor" bigint NOT NULL,
	"account_reference" text,
	"error" text NOT NULL,
	"message" text NOT NULL,
	"decision" json,
	"request_id" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "payment_refusals_amount_check" CHECK ("payment_refusals"."amount_minor" > 0)
);
--> statement-breakpoint
CREATE TABLE "callback_bodies" (
	"id" uuid PRIMARY KEY NOT NULL,
	"body_ciphertext" "bytea" NOT NULL,
	"body_key_id" text NOT NULL
) PARTITION BY RANGE ("id");
--> statement-breakpoint
CREATE TABLE "callback_deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"attempt_id" uuid,
	"account_id" uuid,
	"received_at" timestamp (3) with time zone NOT NULL,
	"processed_at" timestamp (3) with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"kind" text NOT NULL,
	"source_ip" text,
	"authentic" boolean NOT NULL,
	"verdict" text
);
--> statement-breakpoint
CREATE TABLE "payments" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"amount_minor" bigint NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"completed_at" timestamp (3) with time zone,
	"dispatch_due_at" timestamp (3) with time zone,
	"execute_at" timestamp (3) with time zone,
	"counted_day" date NOT NULL,
	"status" text NOT NULL,
	"currency" text NOT NULL,
	"beneficiary_id" uuid NOT NULL,
	"payee_id" uuid NOT NULL,
	"payment_type" text NOT NULL,
	"rail" text NOT NULL,
	"account_reference" text,
	"narrative" text,
	"metadata" jsonb NOT NULL,
	"mandate_id" uuid,
	"approval_id" uuid,
	"initiator_account_id" uuid NOT NULL,
	"grant_id" uuid,
	"snapshot" "bytea" NOT NULL,
	"batch_id" uuid,
	"batch_index" integer,
	"batch_leaf" text,
	"idempotency_key" text,
	"request_hash" "bytea",
	"hold_transfer_id" uuid,
	"origin_grant_id" uuid,
	"provider_receipt" text,
	"failure_code" text,
	"failure_message" text,
	"provider_code" text,
	"late_success_receipt" text,
	"late_success_amount_minor" bigint,
	"late_success_at" timestamp (3) with time zone,
	"late_success_resolution" text,
	"late_success_resolved_at" timestamp (3) with time zone,
	"traceparent" text,
	CONSTRAINT "payments_key_check" CHECK (("payments"."idempotency_key" is null) = ("payments"."request_hash" is null)),
	CONSTRAINT "payments_batch_check" CHECK (num_nulls("payments"."batch_id", "payments"."batch_index", "payments"."batch_leaf") in (0, 3)),
	CONSTRAINT "payments_amount_check" CHECK ("payments"."amount_minor" > 0),
	CONSTRAINT "payments_hold_check" CHECK ("payments"."hold_transfer_id" is not null or ("payments"."execute_at" is not null and "payments"."status" in ('scheduled', 'failed', 'cancelled'))),
	CONSTRAINT "payments_dispatch_check" CHECK ("payments"."dispatch_due_at" is null or "payments"."status" = 'processing'),
	CONSTRAINT "payments_late_success_check" CHECK ("payments"."late_success_at" is null or "payments"."status" = 'failed')
);
--> statement-breakpoint
CREATE TABLE "rail_attempts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"subject_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"amount_minor" bigint NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"next_check_at" timestamp (3) with time zone,
	"asked_at" timestamp (3) with time zone,
	"checked_at" timestamp (3) with time zone,
	"generation" integer NOT NULL,
	"send" integer NOT NULL,
	"checks" integer DEFAULT 0 NOT NULL,
	"kind" text NOT NULL,
	"rail" text NOT NULL,
	"state" text NOT NULL,
	"order_id" uuid NOT NULL,
	"reference" text NOT NULL,
	"sender_id" uuid,
	"fingerprint" "bytea",
	"provider_request" text,
	"provider_conversation" text,
	CONSTRAINT "rail_attempts_amount_check" CHECK ("rail_attempts"."amount_minor" > 0)
);
--> statement-breakpoint
CREATE TABLE "topups" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"status" text NOT NULL,
	"amount_minor" bigint,
	"received_minor" bigint,
	"currency" text NOT NULL,
	"method" text NOT NULL,
	"phone_ciphertext" "bytea",
	"phone_key_id" text,
	"phone_mask" text,
	"phone_fingerprint" "bytea",
	"deposit_code" text,
	"instructions" jsonb,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"initiator_account_id" uuid NOT NULL,
	"grant_id" uuid,
	"metadata" jsonb NOT NULL,
	"idempotency_key" text,
	"request_hash" "bytea",
	"snapshot" "bytea",
	"provider_receipt" text,
	"failure_code" text,
	"failure_message" text,
	"provider_code" text,
	"dispatch_due_at" timestamp (3) with time zone,
	"traceparent" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"completed_at" timestamp (3) with time zone,
	CONSTRAINT "topups_key_check" CHECK (num_nonnulls("topups"."idempotency_key", "topups"."request_hash", "topups"."snapshot") in (0, 3)),
	CONSTRAINT "topups_amount_check" CHECK ("topups"."amount_minor" > 0 and "topups"."received_minor" > 0),
	CONSTRAINT "topups_received_check" CHECK (("topups"."received_minor" is null) = ("topups"."status" <> 'succeeded')),
	CONSTRAINT "topups_method_check" CHECK (case when "topups"."deposit_code" is null then num_nulls("topups"."amount_minor", "topups"."phone_ciphertext", "topups"."phone_key_id", "topups"."phone_mask", "topups"."phone_fingerprint") = 0 and "topups"."instructions" is null
        else "topups"."instructions" is not null and num_nonnulls("topups"."phone_ciphertext", "topups"."phone_key_id", "topups"."phone_mask", "topups"."phone_fingerprint", "topups"."dispatch_due_at") = 0 end),
	CONSTRAINT "topups_dispatch_check" CHECK ("topups"."dispatch_due_at" is null or "topups"."status" = 'pending')
);
--> statement-breakpoint
CREATE TABLE "spending_policies" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"name" text NOT NULL,
	"binds_grant_id" uuid,
	"payment_types" text[] NOT NULL,
	"beneficiary_ids" uuid[] NOT NULL,
	"per_payment_limit_minor" bigint,
	"daily_limit_minor" bigint,
	"monthly_limit_minor" bigint,
	"approval_threshold_minor" bigint,
	"required_approval_count" integer NOT NULL,
	"count_implied" boolean NOT NULL,
	"separation_of_duties" boolean NOT NULL,
	"approval_proof" text NOT NULL,
	"duplicate_window_seconds" integer,
	"on_duplicate" text,
	"new_payees" text,
	"payee_verification" text,
	"version" integer DEFAULT 1 NOT NULL,
	"created_by" uuid NOT NULL,
	"created_by_grant_id" uuid,
	"created_by_label" text,
	"changed_by" uuid,
	"changed_by_grant_id" uuid,
	"changed_by_label" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"archived_at" timestamp (3) with time zone,
	CONSTRAINT "spending_policies_count_check" CHECK ("spending_policies"."required_approval_count" between 0 and 10),
	CONSTRAINT "spending_policies_window_check" CHECK ("spending_policies"."duplicate_window_seconds" between 0 and 604800),
	CONSTRAINT "spending_policies_threshold_check" CHECK ("spending_policies"."approval_threshold_minor" is null or "spending_policies"."required_approval_count" > 0)
);
--> statement-breakpoint
CREATE TABLE "spending_policy_versions" (
	"policy_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"document" jsonb NOT NULL,
	"created_by" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "spending_policy_versions_policy_id_version_pk" PRIMARY KEY("policy_id","version")
);
--> statement-breakpoint
CREATE TABLE "spending_totals" (
	"workspace_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"day" date NOT NULL,
	"payee_id" uuid NOT NULL,
	"grant_id" uuid NOT NULL,
	"rail" text NOT NULL,
	"payment_type" text NOT NULL,
	"used_minor" bigint NOT NULL,
	"payments" bigint NOT NULL,
	CONSTRAINT "spending_totals_workspace_id_payee_id_day_rail_payment_type_grant_id_account_id_pk" PRIMARY KEY("workspace_id","payee_id","day","rail","payment_type","grant_id","account_id"),
	CONSTRAINT "spending_totals_used_check" CHECK ("spending_totals"."used_minor" >= 0 and "spending_totals"."payments" >= 0)
);
--> statement-breakpoint
CREATE TABLE "usage_counters" (
	"subject" text NOT NULL,
	"subject_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"period" text NOT NULL,
	"period_start" date NOT NULL,
	"used_minor" bigint NOT NULL,
	"payments" bigint NOT NULL,
	CONSTRAINT "usage_counters_subject_id_period_period_start_account_id_pk" PRIMARY KEY("subject_id","period","period_start","account_id"),
	CONSTRAINT "usage_counters_used_check" CHECK ("usage_counters"."used_minor" >= 0 and "usage_counters"."payments" >= 0)
);
--> statement-breakpoint
CREATE TABLE "balance_queries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"round_id" uuid NOT NULL,
	"provider" text NOT NULL,
	"account" text NOT NULL,
	"secret_hash" "bytea" NOT NULL,
	"came_in_minor" bigint NOT NULL,
	"went_out_minor" bigint NOT NULL,
	"stated_minor" bigint,
	"sub_accounts" integer,
	"requested_at" timestamp (3) with time zone NOT NULL,
	"answered_at" timestamp (3) with time zone,
	CONSTRAINT "balance_queries_answer_check" CHECK (num_nulls("balance_queries"."stated_minor", "balance_queries"."sub_accounts", "balance_queries"."answered_at") in (0, 3))
);
--> statement-breakpoint
CREATE TABLE "duplicate_checks" (
	"rail" text NOT NULL,
	"account" text NOT NULL,
	"passed_by" text NOT NULL,
	"passed_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "duplicate_checks_rail_account_pk" PRIMARY KEY("rail","account")
);
--> statement-breakpoint
CREATE TABLE "rail_pauses" (
	"rail" text NOT NULL,
	"cause" text NOT NULL,
	"reason" text NOT NULL,
	"paused_by" text NOT NULL,
	"paused_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "rail_pauses_rail_cause_pk" PRIMARY KEY("rail","cause")
);
--> statement-breakpoint
CREATE TABLE "reconciliation_differences" (
	"id" uuid PRIMARY KEY NOT NULL,
	"reconciliation_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"receipt" text,
	"subject_kind" text,
	"subject_id" uuid,
	"booked_minor" bigint,
	"stated_minor" bigint,
	"reason" text NOT NULL,
	"action" text NOT NULL,
	"offer" text,
	"resolved_at" timestamp (3) with time zone,
	"resolved_by" text,
	"note" text,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "reconciliations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"provider" text NOT NULL,
	"source" text NOT NULL,
	"content_hash" "bytea" NOT NULL,
	"period_start" timestamp (3) with time zone NOT NULL,
	"period_end" timestamp (3) with time zone NOT NULL,
	"lines" integer NOT NULL,
	"matched" integer NOT NULL,
	"differences" integer NOT NULL,
	"totals" jsonb NOT NULL,
	"requested_by" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "suspense_items" (
	"id" uuid PRIMARY KEY NOT NULL,
	"rail" text NOT NULL,
	"direction" text NOT NULL,
	"reason" text NOT NULL,
	"fingerprint" text NOT NULL,
	"attempt_id" uuid,
	"delivery_id" uuid,
	"subject_kind" text,
	"subject_id" uuid,
	"provider_receipt" text,
	"amount_minor" bigint,
	"transfer_id" uuid,
	"outcome" text,
	"note" text,
	"resolved_by" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"resolved_at" timestamp (3) with time zone,
	CONSTRAINT "suspense_items_resolved_check" CHECK (("suspense_items"."resolved_at" is null) = ("suspense_items"."outcome" is null))
);
--> statement-breakpoint
CREATE TABLE "verify_points" (
	"name" text PRIMARY KEY NOT NULL,
	"through" text NOT NULL,
	"totals" jsonb NOT NULL,
	"at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "request_log" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"grant_id" uuid,
	"operation" text NOT NULL,
	"method" text NOT NULL,
	"path" text NOT NULL,
	"status" integer NOT NULL,
	"error" text,
	"message" text,
	"request_id" text NOT NULL,
	"ms" integer NOT NULL,
	"at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "schedules" (
	"name" text PRIMARY KEY NOT NULL,
	"every_seconds" integer NOT NULL,
	"next_run_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dashboard_tokens" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"workspace_id" uuid NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"session_id" uuid,
	"api_key_id" uuid,
	"oauth_token_id" uuid,
	"grant_id" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "dashboard_tokens_parent_check" CHECK (num_nonnulls("dashboard_tokens"."session_id", "dashboard_tokens"."api_key_id", "dashboard_tokens"."oauth_token_id") = 1)
);
--> statement-breakpoint
CREATE TABLE "nonces" (
	"nonce" text PRIMARY KEY NOT NULL,
	"purpose" text NOT NULL,
	"bound_to" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"consumed_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"workspace_id" uuid NOT NULL,
	"identity_id" uuid,
	"token_hash" "bytea" NOT NULL,
	"user_agent" text,
	"ip" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone NOT NULL,
	"proven_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"revoked_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "sign_in_flows" (
	"id" uuid PRIMARY KEY NOT NULL,
	"provider" text NOT NULL,
	"state_hash" "bytea" NOT NULL,
	"browser_hash" "bytea",
	"link_hash" "bytea",
	"sealed" "bytea" NOT NULL,
	"sealed_key_id" text NOT NULL,
	"return_to" text NOT NULL,
	"account_id" uuid,
	"credential_kind" text,
	"credential_id" uuid,
	"grant_id" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "sign_in_flows_provider_check" CHECK ("sign_in_flows"."provider" in ('google', 'github')),
	CONSTRAINT "sign_in_flows_intent_check" CHECK (num_nonnulls("sign_in_flows"."account_id", "sign_in_flows"."credential_kind", "sign_in_flows"."credential_id") in (0, 3)),
	CONSTRAINT "sign_in_flows_binding_check" CHECK (num_nonnulls("sign_in_flows"."browser_hash", "sign_in_flows"."link_hash") > 0)
);
--> statement-breakpoint
CREATE TABLE "invitations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"role" text NOT NULL,
	"email" text,
	"wallet_address" text,
	"token_hash" "bytea" NOT NULL,
	"invited_by" uuid NOT NULL,
	"accepted_by" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"accepted_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "members" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"role" text NOT NULL,
	"status" text DEFAULT 'active' NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "members_role_check" CHECK ("members"."role" in ('owner', 'admin', 'approver', 'member', 'viewer')),
	CONSTRAINT "members_status_check" CHECK ("members"."status" in ('active', 'suspended'))
);
--> statement-breakpoint
CREATE TABLE "workspaces" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"kind" text NOT NULL,
	"time_zone" text NOT NULL,
	"next_time_zone" text,
	"next_time_zone_from" timestamp (3) with time zone,
	"owning_account_id" uuid NOT NULL,
	"frozen_at" timestamp (3) with time zone,
	"freeze_reason" text,
	"suspended_at" timestamp (3) with time zone,
	"closed_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "workspaces_kind_check" CHECK ("workspaces"."kind" in ('personal', 'team'))
);
--> statement-breakpoint
ALTER TABLE "identities" ADD CONSTRAINT "identities_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "adjustments" ADD CONSTRAINT "adjustments_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "adjustments" ADD CONSTRAINT "adjustments_payment_id_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."payments"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "approval_decisions" ADD CONSTRAINT "approval_decisions_approval_id_approvals_id_fk" FOREIGN KEY ("approval_id") REFERENCES "public"."approvals"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "approval_decisions" ADD CONSTRAINT "approval_decisions_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "approval_voids" ADD CONSTRAINT "approval_voids_decision_id_approval_decisions_id_fk" FOREIGN KEY ("decision_id") REFERENCES "public"."approval_decisions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_payment_id_payments_id_fk" FOREIGN KEY ("payment_id") REFERENCES "public"."payments"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_batch_id_payment_batches_id_fk" FOREIGN KEY ("batch_id") REFERENCES "public"."payment_batches"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "beneficiaries" ADD CONSTRAINT "beneficiaries_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "beneficiaries" ADD CONSTRAINT "beneficiaries_payee_id_payees_id_fk" FOREIGN KEY ("payee_id") REFERENCES "public"."payees"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "beneficiaries" ADD CONSTRAINT "beneficiaries_created_by_accounts_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payees" ADD CONSTRAINT "payees_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payees" ADD CONSTRAINT "payees_paybill_fk" FOREIGN KEY ("paybill_id") REFERENCES "public"."payees"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deposits" ADD CONSTRAINT "deposits_topup_id_topups_id_fk" FOREIGN KEY ("topup_id") REFERENCES "public"."topups"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deposits" ADD CONSTRAINT "deposits_suspense_id_suspense_items_id_fk" FOREIGN KEY ("suspense_id") REFERENCES "public"."suspense_items"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_grant_id_grants_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."grants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_parent_fk" FOREIGN KEY ("parent_grant_id") REFERENCES "public"."grants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_derived_from_fk" FOREIGN KEY ("derived_from_grant_id") REFERENCES "public"."grants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ledger_transfers" ADD CONSTRAINT "ledger_transfers_pending_fk" FOREIGN KEY ("pending_id") REFERENCES "public"."ledger_transfers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "intent_mandates" ADD CONSTRAINT "intent_mandates_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "intent_mandates" ADD CONSTRAINT "intent_mandates_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "intent_mandates" ADD CONSTRAINT "intent_mandates_grant_id_grants_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."grants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_access_tokens" ADD CONSTRAINT "oauth_access_tokens_grant_id_grants_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."grants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_authorizations" ADD CONSTRAINT "oauth_authorizations_client_id_oauth_clients_id_fk" FOREIGN KEY ("client_id") REFERENCES "public"."oauth_clients"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_authorizations" ADD CONSTRAINT "oauth_authorizations_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_authorizations" ADD CONSTRAINT "oauth_authorizations_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_authorizations" ADD CONSTRAINT "oauth_authorizations_grant_id_grants_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."grants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_grants" ADD CONSTRAINT "oauth_grants_grant_id_grants_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."grants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_grants" ADD CONSTRAINT "oauth_grants_client_id_oauth_clients_id_fk" FOREIGN KEY ("client_id") REFERENCES "public"."oauth_clients"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payment_batches" ADD CONSTRAINT "payment_batches_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "topups" ADD CONSTRAINT "topups_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "topups" ADD CONSTRAINT "topups_initiator_account_id_accounts_id_fk" FOREIGN KEY ("initiator_account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "topups" ADD CONSTRAINT "topups_grant_id_grants_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."grants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "spending_policies" ADD CONSTRAINT "spending_policies_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "spending_policies" ADD CONSTRAINT "spending_policies_created_by_accounts_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "spending_policy_versions" ADD CONSTRAINT "spending_policy_versions_policy_id_spending_policies_id_fk" FOREIGN KEY ("policy_id") REFERENCES "public"."spending_policies"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "reconciliation_differences" ADD CONSTRAINT "reconciliation_differences_reconciliation_id_reconciliations_id_fk" FOREIGN KEY ("reconciliation_id") REFERENCES "public"."reconciliations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dashboard_tokens" ADD CONSTRAINT "dashboard_tokens_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dashboard_tokens" ADD CONSTRAINT "dashboard_tokens_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dashboard_tokens" ADD CONSTRAINT "dashboard_tokens_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dashboard_tokens" ADD CONSTRAINT "dashboard_tokens_api_key_id_api_keys_id_fk" FOREIGN KEY ("api_key_id") REFERENCES "public"."api_keys"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dashboard_tokens" ADD CONSTRAINT "dashboard_tokens_grant_id_grants_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."grants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_identity_id_identities_id_fk" FOREIGN KEY ("identity_id") REFERENCES "public"."identities"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sign_in_flows" ADD CONSTRAINT "sign_in_flows_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_invited_by_accounts_id_fk" FOREIGN KEY ("invited_by") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_accepted_by_accounts_id_fk" FOREIGN KEY ("accepted_by") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_owning_account_id_accounts_id_fk" FOREIGN KEY ("owning_account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "accounts_email_key" ON "accounts" USING btree ((case when "email" ~ '^[!-~]+$' then lower("email") else "email" end));--> statement-breakpoint
CREATE UNIQUE INDEX "identities_subject_key" ON "identities" USING btree ("provider","issuer","subject_key");--> statement-breakpoint
CREATE INDEX "identities_account" ON "identities" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "identities_email" ON "identities" USING btree ((case when "email" ~ '^[!-~]+$' then lower("email") else "email" end)) WHERE "identities"."email_verified";--> statement-breakpoint
CREATE INDEX "identities_linked_by" ON "identities" USING btree ("linked_by_grant_id") WHERE "identities"."linked_by_grant_id" is not null;--> statement-breakpoint
CREATE INDEX "adjustments_operator" ON "adjustments" USING btree ("requested_by","decided_at");--> statement-breakpoint
CREATE INDEX "adjustments_account" ON "adjustments" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "adjustments_pending" ON "adjustments" USING btree ("id") WHERE "adjustments"."status" = 'pending';--> statement-breakpoint
CREATE UNIQUE INDEX "adjustments_payment_pending_key" ON "adjustments" USING btree ("payment_id","kind") WHERE "adjustments"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "approval_decisions_approver" ON "approval_decisions" USING btree ("approval_id","account_id");--> statement-breakpoint
CREATE INDEX "approval_decisions_account" ON "approval_decisions" USING btree ("account_id","approval_id");--> statement-breakpoint
CREATE UNIQUE INDEX "approval_decisions_assertion" ON "approval_decisions" USING btree ("account_id","passkey_id","signature") WHERE "approval_decisions"."passkey_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "approvals_payment_key" ON "approvals" USING btree ("payment_id","account_id");--> statement-breakpoint
CREATE INDEX "approvals_workspace" ON "approvals" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "approvals_workspace_status" ON "approvals" USING btree ("workspace_id","status","id");--> statement-breakpoint
CREATE INDEX "approvals_expiry" ON "approvals" USING btree ("expires_at") WHERE "approvals"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "beneficiaries_workspace" ON "beneficiaries" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "beneficiaries_payee" ON "beneficiaries" USING btree ("payee_id");--> statement-breakpoint
CREATE INDEX "beneficiaries_made_by" ON "beneficiaries" USING btree ("created_by_grant_id","id") WHERE "beneficiaries"."created_by_grant_id" is not null;--> statement-breakpoint
CREATE INDEX "beneficiaries_changed_by" ON "beneficiaries" USING btree ("changed_by_grant_id","id") WHERE "beneficiaries"."changed_by_grant_id" is not null;--> statement-breakpoint
CREATE INDEX "beneficiaries_proposed" ON "beneficiaries" USING btree ("workspace_id","id") WHERE "beneficiaries"."confirmed_at" is null;--> statement-breakpoint
CREATE INDEX "beneficiaries_name_checks" ON "beneficiaries" USING btree ("name_check_due_at") WHERE "beneficiaries"."name_check_due_at" is not null;--> statement-breakpoint
CREATE INDEX "beneficiaries_other_name" ON "beneficiaries" USING btree ("workspace_id","id") WHERE "beneficiaries"."verification" = 'no_match' and "beneficiaries"."archived_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "payees_fingerprint_key" ON "payees" USING btree ("workspace_id","fingerprint");--> statement-breakpoint
CREATE UNIQUE INDEX "payees_account_key" ON "payees" USING btree ("paybill_id","reference_key") WHERE "payees"."paybill_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "deposits_receipt_key" ON "deposits" USING btree ("provider","receipt");--> statement-breakpoint
CREATE INDEX "deposits_topup" ON "deposits" USING btree ("topup_id");--> statement-breakpoint
CREATE INDEX "deposits_suspense" ON "deposits" USING btree ("suspense_id");--> statement-breakpoint
CREATE INDEX "deposits_open" ON "deposits" USING btree ("received_at") WHERE "deposits"."state" = 'received';--> statement-breakpoint
CREATE INDEX "deposits_paid" ON "deposits" USING btree ("rail","paid_at");--> statement-breakpoint
CREATE INDEX "audit_log_order" ON "audit_log" USING btree ("transaction");--> statement-breakpoint
CREATE INDEX "audit_log_subject" ON "audit_log" USING btree ("subject_id");--> statement-breakpoint
CREATE INDEX "audit_log_workspace" ON "audit_log" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "audit_log_account" ON "audit_log" USING btree ("account_id","id") WHERE "audit_log"."account_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "audit_seals_hash_key" ON "audit_seals" USING btree ("hash");--> statement-breakpoint
CREATE UNIQUE INDEX "audit_seals_through" ON "audit_seals" USING btree ("through_transaction","through_id");--> statement-breakpoint
CREATE INDEX "events_order" ON "events" USING btree ("transaction","id");--> statement-breakpoint
CREATE INDEX "events_workspace" ON "events" USING btree ("workspace_id","transaction","id");--> statement-breakpoint
CREATE INDEX "events_account" ON "events" USING btree ("account_id","transaction","id") WHERE "events"."workspace_id" is null;--> statement-breakpoint
CREATE INDEX "idempotency_keys_age" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "stream_places_account" ON "stream_places" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "api_keys_lookup" ON "api_keys" USING btree ("lookup");--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "api_keys_account" ON "api_keys" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "api_keys_grant" ON "api_keys" USING btree ("grant_id");--> statement-breakpoint
CREATE INDEX "grants_derived_from" ON "grants" USING btree ("derived_from_grant_id") WHERE "grants"."derived_from_grant_id" is not null;--> statement-breakpoint
CREATE INDEX "grants_account" ON "grants" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "grants_workspace" ON "grants" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "grants_due" ON "grants" USING btree ("expires_at") WHERE "grants"."revoked_at" is null and "grants"."expires_at" is not null;--> statement-breakpoint
CREATE INDEX "grants_root" ON "grants" USING btree (("ancestor_ids"[1]),"id") WHERE "grants"."ancestor_ids"[1] is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "ledger_accounts_code_key" ON "ledger_accounts" USING btree ("code");--> statement-breakpoint
CREATE UNIQUE INDEX "ledger_accounts_owner_key" ON "ledger_accounts" USING btree ("owner_id");--> statement-breakpoint
CREATE UNIQUE INDEX "ledger_transfers_pending_key" ON "ledger_transfers" USING btree ("pending_id","customer_account_id") WHERE "ledger_transfers"."pending_id" is not null;--> statement-breakpoint
CREATE INDEX "ledger_transfers_reference" ON "ledger_transfers" USING btree ("reference_id");--> statement-breakpoint
CREATE UNIQUE INDEX "ledger_transfers_direct_key" ON "ledger_transfers" USING btree ("reference_id","customer_account_id") WHERE "ledger_transfers"."kind" = 'direct' and "ledger_transfers"."reference_type" in ('topup', 'deposit', 'payment');--> statement-breakpoint
CREATE INDEX "ledger_transfers_history" ON "ledger_transfers" USING btree ("customer_account_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "intent_mandates_nonce_key" ON "intent_mandates" USING btree ("nonce");--> statement-breakpoint
CREATE INDEX "intent_mandates_workspace" ON "intent_mandates" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "intent_mandates_account" ON "intent_mandates" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "intent_mandates_expiry" ON "intent_mandates" USING btree ("expires_at") WHERE "intent_mandates"."status" = 'active';--> statement-breakpoint
CREATE UNIQUE INDEX "oauth_access_tokens_hash_key" ON "oauth_access_tokens" USING btree ("hash");--> statement-breakpoint
CREATE UNIQUE INDEX "oauth_access_tokens_generation_key" ON "oauth_access_tokens" USING btree ("grant_id","generation");--> statement-breakpoint
CREATE INDEX "oauth_access_tokens_expiry" ON "oauth_access_tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "oauth_authorizations_request_uri_key" ON "oauth_authorizations" USING btree ("request_uri_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "oauth_authorizations_device_code_key" ON "oauth_authorizations" USING btree ("device_code_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "oauth_authorizations_user_code_key" ON "oauth_authorizations" USING btree ("user_code");--> statement-breakpoint
CREATE UNIQUE INDEX "oauth_authorizations_code_key" ON "oauth_authorizations" USING btree ("code_hash");--> statement-breakpoint
CREATE INDEX "oauth_authorizations_client" ON "oauth_authorizations" USING btree ("client_id");--> statement-breakpoint
CREATE INDEX "oauth_authorizations_grant" ON "oauth_authorizations" USING btree ("grant_id");--> statement-breakpoint
CREATE INDEX "oauth_authorizations_expiry" ON "oauth_authorizations" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "oauth_clients_url_key" ON "oauth_clients" USING btree ("url");--> statement-breakpoint
CREATE INDEX "oauth_clients_idle" ON "oauth_clients" USING btree ("last_used_at","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "oauth_grants_handle_key" ON "oauth_grants" USING btree ("handle");--> statement-breakpoint
CREATE INDEX "oauth_grants_client" ON "oauth_grants" USING btree ("client_id");--> statement-breakpoint
CREATE UNIQUE INDEX "passkeys_credential_key" ON "passkeys" USING btree ("credential_id");--> statement-breakpoint
CREATE INDEX "passkeys_account" ON "passkeys" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "payment_batches_workspace" ON "payment_batches" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "payment_batches_idempotency_key" ON "payment_batches" USING btree ("workspace_id","idempotency_key","account_id") WHERE "payment_batches"."idempotency_key" is not null;--> statement-breakpoint
CREATE INDEX "payment_batches_scheduled" ON "payment_batches" USING btree ("execute_at") WHERE "payment_batches"."status" = 'scheduled';--> statement-breakpoint
CREATE INDEX "payment_refusals_workspace" ON "payment_refusals" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "payment_refusals_beneficiary" ON "payment_refusals" USING btree ("beneficiary_id","id") WHERE "payment_refusals"."beneficiary_id" is not null;--> statement-breakpoint
CREATE INDEX "payment_refusals_recent" ON "payment_refusals" USING btree (coalesce("grant_id", "initiator_account_id"),"created_at");--> statement-breakpoint
CREATE INDEX "payment_refusals_age" ON "payment_refusals" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "callback_deliveries_attempt" ON "callback_deliveries" USING btree ("attempt_id");--> statement-breakpoint
CREATE INDEX "callback_deliveries_open" ON "callback_deliveries" USING btree ("received_at") WHERE "callback_deliveries"."processed_at" is null;--> statement-breakpoint
CREATE INDEX "callback_deliveries_refused" ON "callback_deliveries" USING btree ("received_at") WHERE not "callback_deliveries"."authentic";--> statement-breakpoint
CREATE INDEX "callback_deliveries_put_aside" ON "callback_deliveries" USING btree ("id") WHERE "callback_deliveries"."verdict" = 'unbookable';--> statement-breakpoint
CREATE INDEX "payments_dispatch" ON "payments" USING btree ("rail","account_id","dispatch_due_at") WHERE "payments"."dispatch_due_at" is not null;--> statement-breakpoint
CREATE INDEX "payments_late_success" ON "payments" USING btree ("id") WHERE "payments"."late_success_at" is not null and "payments"."late_success_resolved_at" is null;--> statement-breakpoint
CREATE INDEX "payments_workspace" ON "payments" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "payments_workspace_status" ON "payments" USING btree ("workspace_id","status","id");--> statement-breakpoint
CREATE INDEX "payments_beneficiary" ON "payments" USING btree ("beneficiary_id","id");--> statement-breakpoint
CREATE INDEX "payments_paybill_account" ON "payments" USING btree ("payee_id",upper(replace(account_reference, ' ', '')),"id") WHERE "payments"."rail" in ('MPESA_B2B') and "payments"."account_reference" is not null;--> statement-breakpoint
CREATE INDEX "payments_duplicates" ON "payments" USING btree ("payee_id","amount_minor","created_at");--> statement-breakpoint
CREATE INDEX "payments_unknown" ON "payments" USING btree ("payee_id") WHERE "payments"."status" = 'unknown';--> statement-breakpoint
CREATE INDEX "payments_unapproved" ON "payments" USING btree ("payee_id","counted_day") WHERE "payments"."approval_id" is null and "payments"."mandate_id" is null;--> statement-breakpoint
CREATE INDEX "payments_approved" ON "payments" USING btree ("payee_id","counted_day") WHERE "payments"."approval_id" is not null or "payments"."mandate_id" is not null;--> statement-breakpoint
CREATE INDEX "payments_mandate" ON "payments" USING btree ("mandate_id") WHERE "payments"."mandate_id" is not null;--> statement-breakpoint
CREATE INDEX "payments_open" ON "payments" USING btree ("status","updated_at") WHERE "payments"."status" in ('processing', 'unknown');--> statement-breakpoint
CREATE UNIQUE INDEX "payments_idempotency_key" ON "payments" USING btree ("workspace_id","idempotency_key","account_id") WHERE "payments"."idempotency_key" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "payments_receipt_key" ON "payments" USING btree ("rail","provider_receipt") WHERE "payments"."provider_receipt" is not null;--> statement-breakpoint
CREATE INDEX "payments_batch" ON "payments" USING btree ("batch_id","batch_index") WHERE "payments"."batch_id" is not null;--> statement-breakpoint
CREATE INDEX "payments_scheduled" ON "payments" USING btree ("execute_at") WHERE "payments"."status" = 'scheduled';--> statement-breakpoint
CREATE UNIQUE INDEX "rail_attempts_reference_key" ON "rail_attempts" USING btree ("reference") WHERE "rail_attempts"."send" = 1;--> statement-breakpoint
CREATE INDEX "rail_attempts_subject" ON "rail_attempts" USING btree ("subject_id");--> statement-breakpoint
CREATE UNIQUE INDEX "rail_attempts_one_live" ON "rail_attempts" USING btree ("subject_id","account_id") WHERE "rail_attempts"."state" <> 'not_sent';--> statement-breakpoint
CREATE INDEX "rail_attempts_due" ON "rail_attempts" USING btree ("next_check_at") WHERE "rail_attempts"."state" <> 'resolved';--> statement-breakpoint
CREATE INDEX "topups_dispatch" ON "topups" USING btree ("account_id","dispatch_due_at") WHERE "topups"."dispatch_due_at" is not null;--> statement-breakpoint
CREATE INDEX "topups_phone" ON "topups" USING btree ("phone_fingerprint","created_at");--> statement-breakpoint
CREATE INDEX "topups_account" ON "topups" USING btree ("account_id","created_at");--> statement-breakpoint
CREATE INDEX "topups_initiator" ON "topups" USING btree ("initiator_account_id","created_at");--> statement-breakpoint
CREATE INDEX "topups_workspace" ON "topups" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "topups_open" ON "topups" USING btree ("expires_at") WHERE "topups"."status" = 'pending';--> statement-breakpoint
CREATE UNIQUE INDEX "topups_idempotency_key" ON "topups" USING btree ("workspace_id","idempotency_key","account_id") WHERE "topups"."idempotency_key" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "topups_receipt_key" ON "topups" USING btree ("method","provider_receipt");--> statement-breakpoint
CREATE UNIQUE INDEX "topups_deposit_code_key" ON "topups" USING btree ("deposit_code");--> statement-breakpoint
CREATE INDEX "spending_policies_workspace" ON "spending_policies" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "spending_policies_made_by" ON "spending_policies" USING btree ("created_by_grant_id","id") WHERE "spending_policies"."created_by_grant_id" is not null;--> statement-breakpoint
CREATE INDEX "spending_policies_active" ON "spending_policies" USING btree ("workspace_id") WHERE "spending_policies"."archived_at" is null;--> statement-breakpoint
CREATE INDEX "spending_policies_of_one" ON "spending_policies" USING btree (("beneficiary_ids"[1])) WHERE "spending_policies"."archived_at" is null and cardinality("spending_policies"."beneficiary_ids") = 1;--> statement-breakpoint
CREATE INDEX "spending_policies_of_others" ON "spending_policies" USING btree ("workspace_id") WHERE "spending_policies"."archived_at" is null and cardinality("spending_policies"."beneficiary_ids") <> 1;--> statement-breakpoint
CREATE INDEX "balance_queries_round" ON "balance_queries" USING btree ("round_id");--> statement-breakpoint
CREATE INDEX "balance_queries_requested" ON "balance_queries" USING btree ("provider","requested_at");--> statement-breakpoint
CREATE INDEX "reconciliation_differences_run" ON "reconciliation_differences" USING btree ("reconciliation_id","id");--> statement-breakpoint
CREATE INDEX "reconciliation_differences_open" ON "reconciliation_differences" USING btree ("id") WHERE "reconciliation_differences"."resolved_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "reconciliations_content_key" ON "reconciliations" USING btree ("provider","content_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "suspense_items_fingerprint_key" ON "suspense_items" USING btree ("fingerprint");--> statement-breakpoint
CREATE INDEX "suspense_items_open" ON "suspense_items" USING btree ("id") WHERE "suspense_items"."resolved_at" is null;--> statement-breakpoint
CREATE INDEX "suspense_items_receipt" ON "suspense_items" USING btree ("provider_receipt") WHERE "suspense_items"."provider_receipt" is not null;--> statement-breakpoint
CREATE INDEX "request_log_account" ON "request_log" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "request_log_age" ON "request_log" USING btree ("at");--> statement-breakpoint
CREATE UNIQUE INDEX "dashboard_tokens_token_hash_key" ON "dashboard_tokens" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "dashboard_tokens_expiry" ON "dashboard_tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "dashboard_tokens_session" ON "dashboard_tokens" USING btree ("session_id");--> statement-breakpoint
CREATE INDEX "nonces_expiry" ON "nonces" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "sessions_token_hash_key" ON "sessions" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "sessions_account" ON "sessions" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "sessions_identity" ON "sessions" USING btree ("identity_id");--> statement-breakpoint
CREATE INDEX "sessions_end" ON "sessions" USING btree (least("expires_at", "revoked_at"));--> statement-breakpoint
CREATE UNIQUE INDEX "sign_in_flows_state_key" ON "sign_in_flows" USING btree ("state_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "sign_in_flows_link_key" ON "sign_in_flows" USING btree ("link_hash");--> statement-breakpoint
CREATE INDEX "sign_in_flows_expiry" ON "sign_in_flows" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "invitations_token_hash_key" ON "invitations" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "invitations_workspace" ON "invitations" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "members_workspace_account_key" ON "members" USING btree ("workspace_id","account_id");--> statement-breakpoint
CREATE INDEX "members_account" ON "members" USING btree ("account_id");--> statement-breakpoint
CREATE UNIQUE INDEX "workspaces_one_personal" ON "workspaces" USING btree ("owning_account_id") WHERE "workspaces"."kind" = 'personal';--> statement-breakpoint
CREATE INDEX "workspaces_owner" ON "workspaces" USING btree ("owning_account_id");