const ascii = /^[!-~]+$/

/**
 * The form in which e-mail addresses are compared. The case of ASCII letters does not matter. Beyond ASCII some letters fold into others (the
 * Kelvin sign into a k), so an address that has any is compared exactly: it never passes for another one.
 */
export const emailKey = (email: string): string => (ascii.test(email) ? email.toLowerCase() : email)
