import { errorRow, isErrorCode } from '../../../src/errors/catalogue.ts'
import { ApiError } from './error.ts'

/** Codes of the page itself. */
const ownAdvice: Readonly<Record<string, string>> = {
  unreachable: 'Check your connection, then try again. Nothing is sent twice.',
}

const rowOf = (error: unknown) => (error instanceof ApiError && isErrorCode(error.code) ? errorRow(error.code) : undefined)

/** What a person can do about it, in the service's words. */
export const adviceFor = (error: unknown): string => {
  if (!(error instanceof ApiError)) return 'Reload the page and try again.'
  // With a request ID there is a button beside it that copies the ID.
  const forSupport = error.requestId ? 'give support the request ID' : 'contact support'
  // Only a form has fields that a person can correct.
  const row = error.code === 'invalid_request' && error.fields.length === 0 ? undefined : rowOf(error)
  return ownAdvice[error.code] ?? row?.person ?? `Try again. If it keeps failing, ${forSupport}.`
}

/** The page on which they do it. */
export const pageFor = (error: unknown): { path: string; label: string } | undefined => rowOf(error)?.page

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'Something went wrong.')
