-- no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invitations_email" ON "invitations" USING btree ((case when "email" ~ '^[!-~]+$' then lower("email") else "email" end)) WHERE "invitations"."accepted_at" is null and "invitations"."revoked_at" is null;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "invitations_wallet" ON "invitations" USING btree (right(lower("wallet_address"), 42)) WHERE "invitations"."accepted_at" is null and "invitations"."revoked_at" is null;
