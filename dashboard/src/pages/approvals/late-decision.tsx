import { ApiError } from '../../api/error.ts'
import { usePeopleOf } from '../../api/use-people.ts'
import { capitalized } from '../../lib/list-words.ts'
import { useSession } from '../../shell/session.tsx'
import { Notice } from '../../ui/layout.tsx'
import { Time } from '../../ui/time.tsx'

export type Late = { by: string; at: string; status: unknown }

/** Someone was faster: who, and when. Null for every other error. */
export const lateIn = (error: unknown): Late | null => {
  const details = error instanceof ApiError && error.code === 'conflict' ? error.details : {}
  const { decided_by: by, decided_at: at, status } = details
  return typeof by === 'string' && typeof at === 'string' ? { by, at, status } : null
}

/** Nothing is left to do about it. `subject`: which one, where several were to be decided. */
export const LateDecision = ({ late: { by, at, status }, subject }: { late: Late; subject?: string | undefined }) => {
  const people = usePeopleOf([useSession().workspace.id])
  return (
    <Notice tone="info" title="Already decided" live>
      <p className="quiet">
        {capitalized(people(by))} {status === 'rejected' ? 'rejected' : status === 'approved' ? 'approved' : 'decided'}{' '}
        {subject ?? 'it'} <Time at={at} />.
      </p>
    </Notice>
  )
}
