import { errorRow } from '../errors/catalogue.ts'
import type { ErrorDetails, Refusal } from '../lib/errors.ts'

export const errorPagePath = (code: string): string => `/docs/errors/${code}`
export const errorPageUrl = (publicUrl: string, code: string): string => publicUrl + errorPagePath(code)

const hasPath = (value: unknown): value is { path: string } =>
  typeof value === 'object' && value !== null && 'path' in value && typeof value.path === 'string'

/** The field, parameter or header that caused the refusal. Undefined if there are several. */
const paramOf = ({ fields, field }: ErrorDetails): string | undefined => {
  if (typeof field === 'string') return field
  const [first, second]: unknown[] = Array.isArray(fields) ? fields : []
  return second === undefined && hasPath(first) ? first.path : undefined
}

/** Tells clients whether to send the same request again, so that they need not know the error codes. */
export const retryHeader = ({ code }: Refusal) => ({ 'payments-should-retry': String(errorRow(code).agent === 'wait') })

/** `publicUrl`: base of the link to the page that explains the error code. */
export const refusalAnswer = (refusal: Refusal, requestId: string, publicUrl: string) => {
  const { code, message, details = {} } = refusal
  const param = paramOf(details)
  const more = { ...(param !== undefined && { param }), doc_url: errorPageUrl(publicUrl, code), request_id: requestId }
  return {
    headers: {
      ...retryHeader(refusal),
      ...refusal.headers,
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
    },
    body: JSON.stringify({ error: code, message, details: { ...details, ...more } }),
  }
}
