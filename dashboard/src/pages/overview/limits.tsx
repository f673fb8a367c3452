import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { grantsQuery, policiesQuery } from '../../api/queries.ts'
import { mostUsed, ofGrant, ofPolicy } from '../../lib/limits.ts'
import { moneyText } from '../../lib/money.ts'
import { useSession } from '../../shell/session.tsx'
import { Card } from '../../ui/layout.tsx'
import { Meter } from '../../ui/meter.tsx'

const maxLimits = 4

/** The limits that are closest to being used up: policies of the workspace, and the reader's own keys and agents in it. */
export const Limits = () => {
  const { currency, workspace } = useSession()
  const policies = useInfiniteQuery(policiesQuery('active'))
  const grants = useInfiniteQuery(grantsQuery)
  const own = grants.data?.pages.flatMap((page) => page.data).filter((grant) => grant.workspace_id === workspace.id) ?? []
  const limits = mostUsed(
    [
      ...(policies.data?.pages.flatMap((page) => page.data).flatMap(ofPolicy) ?? []),
      ...own.flatMap((grant) => ofGrant(grant, `/developers/${grant.kind === 'oauth' ? 'agents' : 'keys'}/${grant.id}`)),
    ],
    maxLimits,
  )
  if (limits.length === 0) return null
  return (
    <Card title="Limits in use">
      <ul className="columns limit-bars">
        {limits.map(({ key, name, period, used, limit, href }) => (
          <li key={key} className="stack-xs">
            <p className="row row-between row-tight">
              <Link href={href} className="in-text">
                {name}
              </Link>
              <span className="faint small">{period}</span>
            </p>
            <Meter used={used} limit={limit} currency={currency} label={`${name}, used ${period}`} />
            <p className="small quiet">
              {moneyText(used, currency)} of {moneyText(limit, currency)}
            </p>
          </li>
        ))}
      </ul>
    </Card>
  )
}
