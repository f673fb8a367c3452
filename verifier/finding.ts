/** The result of one check, in words. `unchecked`: the check was not possible here; `says` explains why. */
export type Finding = { check: string; result: 'ok' | 'bad' | 'unchecked'; says: string }

export const ok = (check: string, says: string): Finding => ({ check, result: 'ok', says })
export const bad = (check: string, says: string): Finding => ({ check, result: 'bad', says })
export const unchecked = (check: string, says: string): Finding => ({ check, result: 'unchecked', says })
export const judged = (check: string, good: boolean, says: string, otherwise: string): Finding =>
  good ? ok(check, says) : bad(check, otherwise)
