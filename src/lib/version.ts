/** The version of the service, its API document, the client. A test compares it with the packages. */
export const version = '0.3.0'

/** What runs: between two releases the next version with the commit, `0.4.0-dev.1a2b3c4d5e6f`, which scripts/bundle.ts writes. */
export const build = (): string => version
