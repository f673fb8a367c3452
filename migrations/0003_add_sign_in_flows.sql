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
DROP INDEX "sessions_account";--> statement-breakpoint
ALTER TABLE "identities" ADD COLUMN "chain_id" bigint;--> statement-breakpoint
ALTER TABLE "sign_in_flows" ADD CONSTRAINT "sign_in_flows_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "sign_in_flows_state_key" ON "sign_in_flows" USING btree ("state_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "sign_in_flows_link_key" ON "sign_in_flows" USING btree ("link_hash");--> statement-breakpoint
CREATE INDEX "sign_in_flows_expiry" ON "sign_in_flows" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "grants_due" ON "grants" USING btree ("expires_at") WHERE "grants"."revoked_at" is null and "grants"."expires_at" is not null;--> statement-breakpoint
CREATE INDEX "payments_mandate" ON "payments" USING btree ("mandate_id") WHERE "payments"."mandate_id" is not null;--> statement-breakpoint
CREATE INDEX "sessions_identity" ON "sessions" USING btree ("identity_id");--> statement-breakpoint
CREATE INDEX "sessions_account" ON "sessions" USING btree ("account_id","id");--> statement-breakpoint
ALTER TABLE "identities" ADD CONSTRAINT "identities_chain_check" CHECK ("identities"."chain_id" is null or "identities"."provider" = 'wallet');