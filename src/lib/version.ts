/** The version of the service, its API document, the client. A test compares it with the packages. */
export const version = '0.3.0'
