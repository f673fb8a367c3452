-- no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "mails_account" ON "mails" USING btree ("account_id") WHERE "mails"."account_id" is not null;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "mails_ended" ON "mails" USING btree ("ended_at") WHERE "mails"."address_ciphertext" is not null;
