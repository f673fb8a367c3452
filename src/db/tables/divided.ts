/**
 * Tables divided into periods by their ids, which begin with their time. `db-generate` adds `PARTITION BY`, which drizzle lacks;
 * `create_periods` and `drop_periods`, in the migration of the guards, create and drop the parts.
 */
export const dividedTables = ['events', 'audit_log', 'callback_bodies'] as const
