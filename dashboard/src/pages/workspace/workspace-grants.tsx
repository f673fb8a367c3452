import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { workspaceGrantsQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { usePeople } from '../../api/use-people.ts'
import { capitalized } from '../../lib/list-words.ts'
import { shortMoney } from '../../lib/money.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, Empty } from '../../ui/layout.tsx'
import { Item, Listing, Rows } from '../../ui/listing.tsx'
import { Badge } from '../../ui/status.tsx'
import { RevokeMemberGrant } from './member-grant-page.tsx'

type Grant = Schemas['WorkspaceGrant']

/** For owners: the keys and agents of all members. */
export const WorkspaceGrants = () => {
  const { currency } = useSession()
  const people = usePeople()
  const [revoking, setRevoking] = useState<Grant | null>(null)
  const none = <Empty icon="robot" title="No keys or agents" />
  return (
    <Card title="All keys and agents" flush>
      <Listing query={useInfiniteQuery(workspaceGrantsQuery)} rows={1} empty={none}>
        {(all) => {
          const live = all.filter(({ revoked_at }) => revoked_at === null)
          if (live.length === 0) return none
          return (
            <Rows items={live}>
              {(grant) => (
                <Item
                  icon={grant.kind === 'oauth' ? 'robot' : 'key'}
                  title={
                    <>
                      <Link href={`/agents/${grant.id}`}>{grant.label}</Link>
                      {grant.frozen && <Badge tone="info">Frozen</Badge>}
                    </>
                  }
                  note={`${capitalized(people(grant.account_id))} · ${shortMoney(grant.usage.month_minor, currency)} used this month`}
                >
                  <Button size="small" variant="danger" onClick={() => setRevoking(grant)} label={`Revoke ${grant.label}`}>
                    Revoke
                  </Button>
                </Item>
              )}
            </Rows>
          )
        }}
      </Listing>
      {revoking && <RevokeMemberGrant grant={revoking} onClose={() => setRevoking(null)} />}
    </Card>
  )
}
