import { Link } from 'wouter'
import { useBeneficiaryNames } from '../../api/names.ts'
import { apiKeysQuery, type Schemas } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { controlsWords } from '../../lib/rule-words.ts'
import { now } from '../../lib/time.ts'
import { useSession } from '../../shell/session.tsx'
import { NewLink } from '../../ui/button.tsx'
import { DialogButton } from '../../ui/form.tsx'
import { Icon } from '../../ui/icon.tsx'
import { lazyPart } from '../../ui/lazy.tsx'
import { List } from '../../ui/listing.tsx'
import { Badge, Countdown, Empty, StatusBadge, Time } from '../../ui/page.tsx'
import { tAgent } from '../agents/texts.ts'
import { DevelopersLayout } from './developers-layout.tsx'
import { GrantUsage } from './grant-view.tsx'
import { richDev, tDev } from './texts.ts'

// Loads on demand: few programs need an OAuth client.
const NewClient = lazyPart(async () => (await import('./new-client.tsx')).NewClient)

type ApiKey = Schemas['ApiKey']

const KeyExpiry = ({ apiKey }: { apiKey: ApiKey }) => {
  if (apiKey.revoked_at && Date.parse(apiKey.revoked_at) > now())
    return <>{richDev('replaced', { countdown: <Countdown to={apiKey.revoked_at} bare over={tDev('a_moment')} /> })}</>
  if (apiKey.status !== 'active' || !apiKey.expires_at) return null
  return <>{richDev('expires_at', { at: <Time at={apiKey.expires_at} /> })}</>
}

/** A key in the list, with its limits, their use, and a link to its page. An ended key has only the link. */
const KeyRow = ({ apiKey }: { apiKey: ApiKey }) => {
  const { currency, workspace } = useSession()
  const { grant } = apiKey
  const nameOf = useBeneficiaryNames(grant.spending_controls.beneficiary_ids ?? [])
  const active = apiKey.status === 'active'
  return (
    <Link href={`/agents/${grant.id}`} className="item" style={{ alignItems: 'flex-start' }}>
      <span className="avatar">
        <Icon name="key" />
      </span>
      <div className="item-main stack-s">
        <div>
          <p className="item-title">
            {apiKey.name}
            {!active && <StatusBadge status={apiKey.status} />}
            {grant.frozen && <Badge tone="info">{t('status.frozen')}</Badge>}
            {grant.workspace_id !== workspace.id && <Badge dot={false}>{tDev('other_workspace')}</Badge>}
          </p>
          <p className="item-note">
            <span className="mono">
              {apiKey.key_prefix}…{apiKey.last_four}
            </span>{' '}
            · <KeyExpiry apiKey={apiKey} />
            <Time at={grant.last_used_at} before={tDev('used_last')} none={tDev('used_never')} />
          </p>
          {active && <p className="item-note">{controlsWords(grant.spending_controls, currency, nameOf)}</p>}
        </div>
        {active && <GrantUsage grant={grant} />}
      </div>
      <span className="item-side faint">
        <Icon name="forward" size={16} />
      </span>
    </Link>
  )
}

export const KeysPage = () => {
  const create = <NewLink href="/developers/keys/new">{tAgent('new_key')}</NewLink>
  return (
    <DevelopersLayout
      actions={
        <>
          <DialogButton dialog={(close) => <NewClient onClose={close} />}>{tDev('client.new')}</DialogButton>
          {create}
        </>
      }
    >
      <List
        label={tDev('keys')}
        query={apiKeysQuery}
        rows={3}
        empty={
          <Empty icon="key" title={tDev('keys.none')} actions={create}>
            {tDev('keys.none_note')}
          </Empty>
        }
      >
        {(apiKey) => <KeyRow apiKey={apiKey} />}
      </List>
    </DevelopersLayout>
  )
}
