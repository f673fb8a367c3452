const ascii = /^[!-~]+$/

/**
 * The form in which e-mail addresses are compared. The case of ASCII letters does not matter. Outside ASCII, lower-casing turns some
 * letters into others (the Kelvin sign into a k), so an address with such letters is compared exactly and never equals another one.
 */
export const emailKey = (email: string): string => (ascii.test(email) ? email.toLowerCase() : email)

/** The same in SQL. */
export const emailKeySql = (column: string): string => `case when ${column} ~ '^[!-~]+$' then lower(${column}) else ${column} end`
