const ascii = /^[!-~]+$/

/** Addresses are compared without ASCII case. Lower-casing others changes letters (the Kelvin sign into a k): they are compared exactly. */
export const emailKey = (email: string): string => (ascii.test(email) ? email.toLowerCase() : email)

export const emailKeySql = (column: string): string => `case when ${column} ~ '^[!-~]+$' then lower(${column}) else ${column} end`
