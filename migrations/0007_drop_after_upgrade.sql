-- no transaction
-- after the upgrade
DROP INDEX CONCURRENTLY IF EXISTS "payments_duplicates";
