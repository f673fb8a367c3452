import { Link } from 'wouter'
import { usePeople } from '../../api/names.ts'
import type { Schemas } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { capitalized, initials } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Icon } from '../../ui/icon.tsx'
import { FreezeRequester, FrozenBadge } from '../agents/agents.tsx'

type By = Schemas['Payment']['initiated_by']

/** Requester of a payment, with the mark of a person or an agent. */
export const RequesterMark = ({ by }: { by: By }) => {
  const people = usePeople()
  const { account } = useSession()
  const person = people(by.account_id)
  const name = by.label ?? capitalized(person)
  const letters = initials(person === t('you') ? (account.display_name ?? person) : person)
  return (
    <span className="requester" title={by.grant_id === null ? undefined : t('agent_by', { agent: name, person })}>
      <span className={by.grant_id === null ? 'mark' : 'mark mark-agent'} aria-hidden="true">
        {by.grant_id === null ? letters : <Icon name="robot" size={12} />}
      </span>
      <span className="one-line">{name}</span>
      <FrozenBadge by={by} />
    </span>
  )
}

/** Requester with a link to the agent's page. `stops`: adds a button that freezes the agent. */
export const Requester = ({ by, stops = false }: { by: By; stops?: boolean }) => {
  const { account, can } = useSession()
  const mark = <RequesterMark by={by} />
  if (by.grant_id === null || !(by.account_id === account.id || can('workspace.manage'))) return mark
  return (
    <span className="row row-tight">
      <Link href={`/agents/${by.grant_id}`}>{mark}</Link>
      {stops && <FreezeRequester by={by} />}
    </span>
  )
}
