/** The version in package.json. A test compares them. */
export const version = '0.4.0'
