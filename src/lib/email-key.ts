const ascii = /^[!-~]+$/

/** ASCII addresses are compared without case, all others exactly: lowercasing can change letters (the Kelvin sign to k). */
export const emailKey = (email: string): string => (ascii.test(email) ? email.toLowerCase() : email)

export const emailKeySql = (column: string): string => `case when ${column} ~ '^[!-~]+$' then lower(${column}) else ${column} end`
