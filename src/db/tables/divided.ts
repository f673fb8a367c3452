/**
 * Tables that are divided into periods by their ids, which begin with their time (UUIDv7). `db-generate` writes `PARTITION BY` behind them, which
 * drizzle cannot say; `create_periods` and `drop_periods` in the migration of the guards make and drop the parts.
 */
export const dividedTables = ['events', 'audit_log', 'callback_bodies'] as const
