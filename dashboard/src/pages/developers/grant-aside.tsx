import type { ReactNode } from 'react'
import type { Schemas } from '../../api/types.ts'
import { wordsOfPermission } from '../../lib/permission-words.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { Card, Facts } from '../../ui/layout.tsx'
import { Badge, StatusBadge } from '../../ui/status.tsx'
import { ExactTime, Time } from '../../ui/time.tsx'

type GrantDetails = Pick<
  Schemas['Grant'],
  'id' | 'kind' | 'frozen' | 'revoked_at' | 'created_at' | 'last_used_at' | 'expires_at' | 'permissions'
>
type Props = { grant: GrantDetails; facts: readonly (readonly [string, ReactNode])[] }

/** The details and permissions of a key or an agent. `facts`: those that only this page shows. */
export const GrantAside = ({ grant, facts }: Props) => (
  <div className="stack split-aside">
    <Card title="Details">
      <Facts
        facts={[
          ['Kind', grant.kind === 'oauth' ? 'Agent (OAuth)' : 'API key'],
          [
            'Status',
            grant.revoked_at === null ? (
              <StatusBadge key="status" status={grant.frozen ? 'frozen' : 'active'} />
            ) : (
              <Badge key="status">Revoked</Badge>
            ),
          ],
          ...facts,
          ['Created', <ExactTime key="created" at={grant.created_at} />],
          ['Last used', grant.last_used_at ? <Time key="used" at={grant.last_used_at} /> : 'Never'],
          ['Expires', grant.expires_at ? <ExactTime key="expires" at={grant.expires_at} /> : 'Never'],
          [
            '',
            <CopyButton key="id" value={grant.id}>
              Copy ID
            </CopyButton>,
          ],
        ]}
      />
    </Card>
    <Card title={`Permissions (${grant.permissions.length})`}>
      <ul className="stack-xs small">
        {grant.permissions.map((permission) => (
          <li key={permission}>{wordsOfPermission(permission)}</li>
        ))}
      </ul>
    </Card>
  </div>
)
