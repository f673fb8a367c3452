/** A user error, described in one sentence. */
export class UsageError extends Error {}

/** An earlier run of the same command already did the work, so this run did nothing. */
export class AlreadyDoneError extends Error {}
