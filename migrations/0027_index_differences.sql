-- no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "reconciliation_differences_subject" ON "reconciliation_differences" USING btree ("subject_id") WHERE "reconciliation_differences"."subject_id" is not null;
