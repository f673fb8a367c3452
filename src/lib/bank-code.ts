/** A bank by its code. */
export type Bank = { code: string; name: string }

/** "1", "01" and "0001" are one code. */
export const plainCode = (code: string): string =>
  code
    .trim()
    .toUpperCase()
    .replace(/^0+(?=.)/, '')
