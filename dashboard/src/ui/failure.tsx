import { adviceFor, messageOf } from '../api/advice.ts'
import { ApiError } from '../api/error.ts'
import { WalletError } from '../wallet/provider.ts'
import { Button } from './button.tsx'
import { CopyText } from './copy.tsx'
import { Notice } from './layout.tsx'

/** What went wrong, what to do about it, and what to tell support. */
export const Failure = ({ error, onRetry }: { error: unknown; onRetry?: () => void }) => {
  if (!error) return null
  const requestId = error instanceof ApiError ? error.requestId : null
  return (
    <Notice tone="bad" title={messageOf(error)} live>
      {!(error instanceof WalletError) && <p className="quiet">{adviceFor(error)}</p>}
      {requestId && (
        <p className="small quiet">
          Request <CopyText value={requestId} label="request id" />
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
  error instanceof ApiError
    ? error.fields.find((field) => field.path === path || field.path.startsWith(`${path}.`))?.message
    : undefined
