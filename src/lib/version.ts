/** Version of the service, its API document and the client. A test compares it with the packages. */
export const version = '0.4.0'

/** The running build. Between releases, scripts/bundle.ts sets the next version, `-dev.` and the commit. */
export const build = (): string => version
