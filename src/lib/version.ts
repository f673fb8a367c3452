/** The version of the service, its API document, the client. A test compares it with the packages. */
export const version = '0.4.0'

/** The running build. Between two releases: the next version with the commit, `0.4.0-dev.1a2b3c4d5e6f`, by scripts/bundle.ts. */
export const build = (): string => version
