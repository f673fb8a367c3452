/** Divided into periods by their ids, which begin with their time. `db-generate` writes `PARTITION BY` behind them, which drizzle cannot say. */
export const dividedTables = ['events', 'audit_log', 'callback_bodies'] as const
