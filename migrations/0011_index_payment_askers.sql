-- no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "payments_askers" ON "payments" USING brin ("grant_id" uuid_bloom_ops(n_distinct_per_range = 400),"initiator_account_id" uuid_bloom_ops(n_distinct_per_range = 200)) WITH (pages_per_range=32,autosummarize=true);
