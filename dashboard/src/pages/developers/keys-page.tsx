import { useInfiniteQuery } from '@tanstack/react-query'
import { apiKeysQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { now } from '../../lib/clock.ts'
import { NewLink } from '../../ui/button.tsx'
import { Card, Empty } from '../../ui/layout.tsx'
import { Listing, Rows } from '../../ui/listing.tsx'
import { StatusBadge } from '../../ui/status.tsx'
import { Countdown, Time } from '../../ui/time.tsx'
import { DevelopersLayout } from './developers-layout.tsx'
import { GrantRow } from './grant-row.tsx'

type ApiKey = Schemas['ApiKey']

const Lasts = ({ apiKey }: { apiKey: ApiKey }) => {
  if (apiKey.revoked_at && Date.parse(apiKey.revoked_at) > now())
    return (
      <>
        replaced, works for <Countdown to={apiKey.revoked_at} over="a moment" /> ·{' '}
      </>
    )
  if (apiKey.status !== 'active' || !apiKey.expires_at) return null
  return (
    <>
      expires <Time at={apiKey.expires_at} /> ·{' '}
    </>
  )
}

const KeyRow = ({ apiKey }: { apiKey: ApiKey }) => (
  <GrantRow
    grant={{ ...apiKey.grant, label: apiKey.name }}
    href={`/agents/${apiKey.grant.id}`}
    icon="key"
    ended={apiKey.status !== 'active'}
    badges={apiKey.status !== 'active' && <StatusBadge status={apiKey.status} />}
    note={
      <>
        <span className="mono">
          {apiKey.key_prefix}…{apiKey.last_four}
        </span>{' '}
        · <Lasts apiKey={apiKey} />
      </>
    }
  />
)

export const KeysPage = () => {
  const create = <NewLink href="/developers/keys/new">New API key</NewLink>
  return (
    <DevelopersLayout actions={create}>
      <Card flush>
        <Listing
          query={useInfiniteQuery(apiKeysQuery)}
          rows={3}
          empty={
            <Empty icon="key" title="No API keys yet" actions={create}>
              A key lets a program act for you in this workspace, within limits that you set.
            </Empty>
          }
        >
          {(keys) => <Rows items={keys}>{(apiKey) => <KeyRow apiKey={apiKey} />}</Rows>}
        </Listing>
      </Card>
    </DevelopersLayout>
  )
}
