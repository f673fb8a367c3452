/** Version in package.json: a test compares them. */
export const version = '0.4.0'
