CREATE TABLE "oauth_access_tokens" (
	"id" uuid PRIMARY KEY NOT NULL,
	"grant_id" uuid NOT NULL,
	"generation" integer NOT NULL,
	"hash" "bytea" NOT NULL,
	"scopes" text[] NOT NULL,
	"resources" text[] NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
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
	"parent_hash" "bytea",
	"rotated_at" timestamp(6) with time zone,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "oauth_access_tokens" ADD CONSTRAINT "oauth_access_tokens_grant_id_grants_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."grants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_authorizations" ADD CONSTRAINT "oauth_authorizations_client_id_oauth_clients_id_fk" FOREIGN KEY ("client_id") REFERENCES "public"."oauth_clients"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_authorizations" ADD CONSTRAINT "oauth_authorizations_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_authorizations" ADD CONSTRAINT "oauth_authorizations_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_authorizations" ADD CONSTRAINT "oauth_authorizations_grant_id_grants_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."grants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_grants" ADD CONSTRAINT "oauth_grants_grant_id_grants_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."grants"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "oauth_grants" ADD CONSTRAINT "oauth_grants_client_id_oauth_clients_id_fk" FOREIGN KEY ("client_id") REFERENCES "public"."oauth_clients"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
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
CREATE INDEX "oauth_grants_client" ON "oauth_grants" USING btree ("client_id");