import type { ReactNode } from 'react'
import { ApiError } from '../../api/error.ts'
import { usePeople } from '../../api/use-people.ts'
import { capitalized } from '../../lib/list-words.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Notice } from '../../ui/layout.tsx'
import { Time } from '../../ui/time.tsx'

/** Someone was faster: says who, and when. Nothing is left to do. Every other error is shown by `fallback`. */
export const LateDecision = ({ error, fallback }: { error: unknown; fallback: ReactNode }) => {
  const people = usePeople()
  const details = error instanceof ApiError && error.code === 'conflict' ? error.details : {}
  const { decided_by: by, decided_at: at, status } = details
  if (typeof by !== 'string' || typeof at !== 'string') return fallback
  return (
    <Notice tone="info" title="Already decided" live>
      <p className="quiet">
        {capitalized(people(by))} {status === 'rejected' ? 'rejected' : 'decided'} it <Time at={at} />. Nothing is left to do.
      </p>
      <p>
        <LinkButton href="/approvals" size="small">
          Back to approvals
        </LinkButton>
      </p>
    </Notice>
  )
}
