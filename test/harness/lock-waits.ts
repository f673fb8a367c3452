/** For `select from …`: the connections to this database alone whose statement waits for a lock. Other test files use the same server. */
export const waitingForLock = "pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
