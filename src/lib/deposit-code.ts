import { randomInt } from 'node:crypto'

export type DepositInstructions =
  | { paybill: string; account_number: string }
  | { bank_code: string; account_number: string; reference: string }

/** Nine digits, of which the last is a check digit (Damm's algorithm). Detects any single wrong digit and any adjacent swap. */
const steps = [
  [0, 3, 1, 7, 5, 9, 8, 6, 4, 2],
  [7, 0, 9, 2, 1, 5, 4, 8, 6, 3],
  [4, 2, 0, 6, 8, 7, 1, 3, 5, 9],
  [1, 7, 5, 0, 9, 8, 3, 4, 2, 6],
  [6, 1, 2, 3, 0, 4, 5, 9, 7, 8],
  [3, 6, 7, 4, 2, 0, 9, 5, 8, 1],
  [5, 8, 6, 9, 7, 2, 0, 1, 3, 4],
  [8, 9, 4, 5, 3, 6, 2, 0, 1, 7],
  [9, 4, 3, 8, 6, 1, 7, 2, 0, 5],
  [2, 5, 8, 1, 4, 3, 6, 7, 9, 0],
] as const

/** 0 if the last digit is a valid check digit. Otherwise the check digit to append. */
const checkDigit = (digits: string): number => [...digits].reduce((state, digit) => steps[state]?.[Number(digit)] ?? 0, 0)

/** Random, so that codes cannot be guessed from each other. Never begins with 0, which a spreadsheet would remove. */
export const newDepositCode = (): string => {
  const digits = String(randomInt(10_000_000, 100_000_000))
  return `${digits}${checkDigit(digits)}`
}

/** Ignores case, spaces and dashes, and reads O as 0 and I and L as 1. */
export const readDepositCode = (typed: string): string | undefined => {
  const digits = typed
    .toUpperCase()
    .replace(/[\s.-]/g, '')
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1')
  return /^[1-9]\d{8}$/.test(digits) && checkDigit(digits) === 0 ? digits : undefined
}
