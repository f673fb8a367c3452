-- no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "beneficiaries_name_turns" ON "beneficiaries" USING btree ("workspace_id","name_check_due_at") WHERE "beneficiaries"."name_check_due_at" is not null;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "mails_turns" ON "mails" USING btree (coalesce(workspace_id, account_id, id),"due_at") WHERE "mails"."due_at" is not null;
