import { type FailureCode, failureRow } from '../errors/failures.ts'

/** Why nothing moved: our code, the provider's own if it gave one, and a sentence without phone or account numbers. */
export type Failure = { code: FailureCode; providerCode: string | null; message: string }

export const failure = (code: FailureCode, providerCode: string | null = null, message?: string): Failure => ({
  code,
  providerCode,
  message: message ?? failureRow(code).sentence,
})
