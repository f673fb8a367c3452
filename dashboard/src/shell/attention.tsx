import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useLocation } from 'wouter'
import { workspacesQuery } from '../api/queries.ts'
import type { Schemas } from '../api/types.ts'
import { isForMe } from '../api/use-inbox.ts'
import { notifyChoices } from '../lib/notify.ts'
import { useStore } from '../lib/store.ts'
import { waitingCount } from '../lib/title.ts'
import type { LiveEvent } from '../live/event.ts'
import { Live } from '../live/live.tsx'
import { subjectWords } from '../pages/approvals/decided-words.ts'
import { announce } from '../ui/toast.tsx'
import { permissionsOf, useSession } from './session.tsx'
import { useSwitchWorkspace } from './switch-workspace.ts'

const isApproval = (data: Record<string, unknown>): data is Schemas['Approval'] => 'payment' in data && 'decisions' in data

/** Follows the stream, and announces an approval that waits for this person. */
export const Attention = ({ waiting }: { waiting: number }) => {
  const { account, workspace } = useSession()
  const { badge } = useStore(notifyChoices)
  const { data } = useQuery(workspacesQuery)
  const switchTo = useSwitchWorkspace()
  const [location, navigate] = useLocation()

  useEffect(() => {
    waitingCount.set(badge ? waiting : 0)
    return () => waitingCount.set(0)
  }, [badge, waiting])

  const onEvent = (event: LiveEvent) => {
    if (event.type !== 'approval.requested' || !isApproval(event.data) || !isForMe(event.data, account.id)) return
    const view = data?.data.find((candidate) => candidate.workspace.id === event.workspace_id)
    if (!view || !permissionsOf(view.membership).has('approval.decide')) return
    const path = `/approvals/${event.data.id}`
    const open = () => (view.workspace.id === workspace.id ? navigate(path) : switchTo(view.workspace.id, path))
    const subject = subjectWords(event.data)
    if (notifyChoices.get().toast && location !== '/approvals')
      announce(`${subject} needs your approval`, 'info', { label: 'Review', run: open })
  }
  return <Live accountId={account.id} onEvent={onEvent} />
}
