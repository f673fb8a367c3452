import { isDeepStrictEqual } from 'node:util'
import type { Answer } from './api.ts'

export const expectSame = (what: string, actual: unknown, expected: unknown): void => {
  if (isDeepStrictEqual(actual, expected)) return
  throw new Error(`${what} should be ${JSON.stringify(expected)} and is ${JSON.stringify(actual)}`)
}

/** The body of an answer that has this status. */
export const expectStatus = (what: string, answer: Answer, status: number): Record<string, unknown> => {
  if (answer.status === status) return answer.body
  throw new Error(`${what} should answer ${status} and answered ${answer.status}: ${JSON.stringify(answer.body)}`)
}

export const text = (record: Record<string, unknown>, name: string): string => {
  const value = record[name]
  if (typeof value === 'string') return value
  throw new Error(`"${name}" should be a string in ${JSON.stringify(record)}`)
}
