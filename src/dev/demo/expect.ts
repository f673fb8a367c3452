import { isDeepStrictEqual } from 'node:util'

export const expectSame = (name: string, actual: unknown, expected: unknown): void => {
  if (isDeepStrictEqual(actual, expected)) return
  throw new Error(`${name} should be ${JSON.stringify(expected)} and is ${JSON.stringify(actual)}`)
}

export const expectThere = <T>(name: string, value: T | null | undefined): T => {
  if (value === null || value === undefined) throw new Error(`${name} should be there and is not`)
  return value
}
