-- no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "approvals_notice_turns" ON "approvals" USING btree ("account_id","notice_due_at") WHERE "approvals"."notice_due_at" is not null;
--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "reconciliation_differences_subject" ON "reconciliation_differences" USING btree ("subject_id") WHERE "reconciliation_differences"."subject_id" is not null;
