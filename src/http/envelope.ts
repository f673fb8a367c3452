import { type ErrorDetails, type Refusal, shouldRetry } from '../lib/errors.ts'

export type Envelope = { error: string; message: string; details: ErrorDetails }
export type MakeEnvelope = (refusal: Refusal, requestId: string) => Envelope

/** Where a code is explained: a page that this service serves. */
export const errorPagePath = (code: string): string => `/docs/errors/${code}`
export const errorPageUrl = (publicUrl: string, code: string): string => publicUrl + errorPagePath(code)

const hasPath = (value: unknown): value is { path: string } =>
  typeof value === 'object' && value !== null && 'path' in value && typeof value.path === 'string'

/** The one field, parameter or header that is to blame, where it is one alone. */
const paramOf = ({ fields, field }: ErrorDetails): string | undefined => {
  if (typeof field === 'string') return field
  const [first, second]: unknown[] = Array.isArray(fields) ? fields : []
  return second === undefined && hasPath(first) ? first.path : undefined
}

/** The body of every refusal. `publicUrl`: where this service is reached, for the link to the page that explains the code. */
export const createEnvelope =
  (publicUrl: string): MakeEnvelope =>
  ({ code, message, details = {} }, requestId) => {
    const param = paramOf(details)
    return {
      error: code,
      message,
      details: {
        ...details,
        ...(param !== undefined && { param }),
        doc_url: errorPageUrl(publicUrl, code),
        request_id: requestId,
      },
    }
  }

/** Says whether to send the same request again, so that a client need not know the codes. */
export const retryHeader = ({ code }: Refusal) => ({ 'payments-should-retry': String(shouldRetry(code)) })
