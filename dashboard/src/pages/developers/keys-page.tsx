import { useInfiniteQuery } from '@tanstack/react-query'
import { apiKeysQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { now } from '../../lib/clock.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Card, Empty } from '../../ui/layout.tsx'
import { Listing } from '../../ui/listing.tsx'
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
  const create = (
    <LinkButton href="/developers/keys/new" variant="primary" icon="plus">
      New API key
    </LinkButton>
  )
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
          {(keys) => (
            <ul className="rows">
              {keys.map((apiKey) => (
                <li key={apiKey.id}>
                  <KeyRow apiKey={apiKey} />
                </li>
              ))}
            </ul>
          )}
        </Listing>
      </Card>
    </DevelopersLayout>
  )
}
