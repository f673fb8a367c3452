/**
 * Tables partitioned by id, and thereby by time, because ids begin with their time. drizzle lacks `PARTITION BY`, so
 * `db-generate` adds it. `create_periods` and `drop_periods` (in the migration of the guards) create and drop the partitions.
 */
export const partitionedTables = ['events', 'audit_log', 'callback_bodies'] as const
