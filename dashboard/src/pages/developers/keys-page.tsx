import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useBeneficiaryNames } from '../../api/names.ts'
import { apiKeysQuery, type Schemas } from '../../api/queries.ts'
import { controlsWords } from '../../lib/controls-words.ts'
import { now } from '../../lib/time.ts'
import { useSession } from '../../shell/session.tsx'
import { Icon, type IconName, NewLink } from '../../ui/button.tsx'
import { List } from '../../ui/listing.tsx'
import { Badge, Card, Countdown, Empty, StatusBadge, Time } from '../../ui/page.tsx'
import { DevelopersLayout } from './developers-layout.tsx'
import { GrantUsage } from './grant-view.tsx'

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
        <List
          query={useInfiniteQuery(apiKeysQuery)}
          rows={3}
          empty={
            <Empty icon="key" title="No API keys yet" actions={create}>
              A key lets a program act for you in this workspace, within limits that you set.
            </Empty>
          }
        >
          {(apiKey) => <KeyRow apiKey={apiKey} />}
        </List>
      </Card>
    </DevelopersLayout>
  )
}

type Props = {
  grant: Schemas['Grant']
  href: string
  icon: IconName
  badges?: ReactNode
  note?: ReactNode
  /** Neither limits nor usage: it has ended. */
  ended?: boolean
}

/** A key or an agent in a list: its limits and their use, with a link to its page. */
const GrantRow = ({ grant, href, icon, badges, note, ended = false }: Props) => {
  const { currency, workspace } = useSession()
  const nameOf = useBeneficiaryNames(grant.spending_controls.beneficiary_ids ?? [])
  return (
    <Link href={href} className="item" style={{ alignItems: 'flex-start' }}>
      <span className="avatar">
        <Icon name={icon} />
      </span>
      <div className="item-main stack-s">
        <div>
          <p className="item-title">
            {grant.label}
            {badges}
            {grant.frozen && <Badge tone="info">Frozen</Badge>}
            {grant.workspace_id !== workspace.id && <Badge dot={false}>Other workspace</Badge>}
          </p>
          <p className="item-note">
            {note}
            <Time at={grant.last_used_at} before="last used " none="never used" />
          </p>
          {!ended && <p className="item-note">{controlsWords(grant.spending_controls, currency, nameOf)}</p>}
        </div>
        {!ended && <GrantUsage grant={grant} />}
      </div>
      <span className="item-side faint">
        <Icon name="forward" size={16} />
      </span>
    </Link>
  )
}
