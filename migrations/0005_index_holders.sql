-- no transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "accounts_holder_key" ON "accounts" USING btree ("holder_of_workspace_id") WHERE "accounts"."holder_of_workspace_id" is not null;
