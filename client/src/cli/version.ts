/** That of package.json: a test compares the two. */
export const version = '0.3.0'
