import { isDeepStrictEqual } from 'node:util'

export const expectSame = (what: string, actual: unknown, expected: unknown): void => {
  if (isDeepStrictEqual(actual, expected)) return
  throw new Error(`${what} should be ${JSON.stringify(expected)} and is ${JSON.stringify(actual)}`)
}

export const expectThere = <T>(what: string, value: T | null | undefined): T => {
  if (value === null || value === undefined) throw new Error(`${what} should be there and is not`)
  return value
}
