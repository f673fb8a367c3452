import { Link } from 'wouter'
import { adviceFor, messageOf, pageFor } from '../api/advice.ts'
import { ApiError } from '../api/error.ts'
import { DeviceError } from '../lib/device-error.ts'
import { plainWords } from '../lib/field-words.ts'
import { capitalized } from '../lib/list-words.ts'
import { Button } from './button.tsx'
import { CopyText } from './copy.tsx'
import { Notice } from './layout.tsx'

/** What went wrong, what to do about it, and the request ID for support. */
export const Failure = ({ error, onRetry }: { error: unknown; onRetry?: () => void }) => {
  if (!error) return null
  const requestId = error instanceof ApiError ? error.requestId : null
  const page = pageFor(error)
  return (
    <Notice tone="bad" title={plainWords(messageOf(error))} live>
      {!(error instanceof DeviceError) && (
        <p className="quiet">
          {adviceFor(error)} {page && <Link href={page.path}>{page.label}</Link>}
        </p>
      )}
      {requestId && (
        <p className="small quiet">
          <CopyText value={requestId} text="Copy request ID for support" label="request ID" />
        </p>
      )}
      {onRetry && (
        <p style={{ marginTop: '8px' }}>
          <Button size="small" onClick={onRetry}>
            Try again
          </Button>
        </p>
      )}
    </Notice>
  )
}

/** What a 400 says about one field, for the field itself. */
export const fieldError = (error: unknown, path: string): string | undefined =>
  sentenceOf(
    error instanceof ApiError
      ? error.fields.find((field) => field.path === path || field.path.startsWith(`${path}.`))?.message
      : undefined,
  )

/** "must not be more than daily_limit_minor" → "Must not be more than the daily limit". */
const sentenceOf = (message: string | undefined): string | undefined => message && capitalized(plainWords(message))
