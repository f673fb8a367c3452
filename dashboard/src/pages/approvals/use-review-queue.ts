import { useEffect } from 'react'
import { useLocation } from 'wouter'
import type { Schemas } from '../../api/types.ts'
import { useInbox } from '../../api/use-inbox.ts'
import { createStore, useStore } from '../../lib/store.ts'
import { useSession } from '../../shell/session.tsx'
import { useSwitchWorkspace } from '../../shell/switch-workspace.ts'

/** The approvals of this round, in the order in which they were found: "3 of 12" stays true while the first two leave the inbox. */
const round = createStore<readonly string[]>([])

/** Where an approval stands among those that wait for this person, in any workspace, and the way to the next one. */
export const useReviewQueue = ({ id }: Pick<Schemas['Approval'], 'id'>) => {
  const { workspace } = useSession()
  const { forMe } = useInbox()
  const switchTo = useSwitchWorkspace()
  const [, navigate] = useLocation()
  const known = useStore(round)
  const waiting = forMe.map(({ approval }) => approval.id)
  useEffect(() => {
    if (waiting.length === 0 && known.length > 0) round.set([])
    else if (waiting.some((one) => !known.includes(one))) round.set([...new Set([...known, ...waiting])])
  }, [waiting, known])
  const at = known.indexOf(id)
  const next = forMe.find(({ approval }) => approval.id !== id)
  return {
    place: known.length > 1 && at >= 0 ? `${at + 1} of ${known.length}` : null,
    /** Opens the next one. Does nothing after the last. */
    goOn: () => {
      if (!next) return
      const href = `/approvals/${next.approval.id}`
      if (next.workspace.id === workspace.id) navigate(href)
      else switchTo(next.workspace.id, href)
    },
  }
}
