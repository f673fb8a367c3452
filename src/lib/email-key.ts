const ascii = /^[!-~]+$/

/**
 * What tells one e-mail address from another. Letter case does not, among ASCII letters. Beyond them some letters fold into others (the
 * Kelvin sign into a k), so an address that has any is compared exactly: it never passes for another one.
 */
export const emailKey = (email: string): string => (ascii.test(email) ? email.toLowerCase() : email)
