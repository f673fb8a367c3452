import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { api, type Body, inWorkspace, type Schemas } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { shortAddress, statusText } from '../../lib/words.ts'
import { Button } from '../../ui/button.tsx'
import { ChoiceField } from '../../ui/field.tsx'
import { Confirm, Dialog, type Keyed, useChange } from '../../ui/form.tsx'
import type { IconName } from '../../ui/icon.tsx'
import { Item, Rows } from '../../ui/listing.tsx'
import { Badge, Time } from '../../ui/page.tsx'
import { identityName } from '../../ui/provider-mark.tsx'
import { richAccount, tAccount } from './texts.ts'

export type BeganHere = Schemas['BeganHere'] | null

/** Queries that ending a session or a sign-in method outdates, by the first part of their keys. */
export const outdatedByEnd = [
  'account',
  'sessions',
  'passkeys',
  'api-keys',
  'grants',
  'invitations',
  'mandates',
  'approvals',
  'inbox',
  'members',
  'workspaces',
  'policies',
]

export const endQuery = (everything: boolean) => (everything ? { end: 'everything' as const } : {})

/** Asked first, because once a sign-in method is unlinked, the service can no longer end everything that began with it. */
export const CompromiseField = ({ stolen, onChange }: { stolen: boolean; onChange: (stolen: boolean) => void }) => (
  <ChoiceField
    label={tAccount('stolen')}
    value={stolen ? 'yes' : 'no'}
    onChange={(value) => onChange(value === 'yes')}
    choices={[
      { value: 'no', label: tAccount('no'), hint: tAccount('stolen.no') },
      {
        value: 'yes',
        label: tAccount('stolen.maybe'),
        hint: tAccount('stolen.yes'),
      },
    ]}
  />
)

type Loosened = Schemas['LoosenedPolicy']
type StartedItem = {
  id: string
  icon: IconName
  name: string
  note: string
  at: string
  /** Label of the outcome. Undefined: ended. Null: the person has to decide. */
  outcome?: string | null
  /** Loosened policy that the person can restore. */
  undo?: Loosened
}

const memberName = ({ display_name: name, email, wallet_address: wallet, id }: Schemas['Member']): string =>
  name ?? email ?? (wallet === null ? id : shortAddress(wallet))

const itemsOf = <Row extends { id: string }>(
  icon: IconName,
  rows: readonly Row[],
  of: (row: Row) => Omit<StartedItem, 'id' | 'icon'>,
): StartedItem[] => rows.map((row) => ({ id: `${icon} ${row.id}`, icon, ...of(row) }))

/** Entries for everything that began. An accepted invitation is shown as its member. */
const startedItems = (began: NonNullable<BeganHere>): StartedItem[] => {
  const keys = new Set(began.api_keys.map(({ grant }) => grant.id))
  const agents = began.grants.filter(({ id }) => !keys.has(id))
  const isOAuth = ({ kind }: (typeof agents)[number]) => kind === 'oauth'
  const open = began.invitations.filter(({ status }) => status !== 'accepted')
  return [
    ...itemsOf('account', began.identities, (one) => ({
      name: identityName(one),
      note: tAccount('thing.method'),
      at: one.created_at,
    })),
    ...itemsOf('fingerprint', began.passkeys, ({ name, created_at: at }) => ({ name, note: tAccount('thing.passkey'), at })),
    ...itemsOf('key', began.api_keys, ({ name, created_at: at }) => ({ name, note: tAccount('thing.key'), at })),
    ...itemsOf('robot', agents.filter(isOAuth), ({ label: name, created_at: at }) => ({
      name,
      note: tAccount('thing.agent'),
      at,
    })),
    ...itemsOf(
      'key',
      agents.filter((one) => !isOAuth(one)),
      ({ label: name, created_at: at }) => ({ name, note: tAccount('thing.key'), at }),
    ),
    ...itemsOf('people', open, ({ role, email, wallet_address: wallet, created_at: at }) => ({
      name: email ?? (wallet === null ? tAccount('by_link') : shortAddress(wallet)),
      note: tAccount('thing.invitation', { role: statusText(role).toLowerCase() }),
      at,
    })),
    ...itemsOf('people', began.members, (one) => ({
      name: memberName(one),
      note: tAccount('thing.member', { role: statusText(one.role).toLowerCase() }),
      at: one.created_at,
      outcome: one.status === 'suspended' ? t('status.suspended') : null,
    })),
    ...itemsOf('account', began.roles, (one) => ({
      name: memberName(one),
      note: tAccount('thing.raised', { role: statusText(one.role_before).toLowerCase() }),
      at: one.raised_at,
      outcome: one.role === one.role_before && one.status === one.status_before ? tAccount('lowered') : null,
    })),
    ...itemsOf('workspace', began.workspaces, ({ name, status, created_at: at }) => ({
      name,
      note: tAccount('thing.workspace'),
      at,
      outcome: status === 'active' ? null : t('status.frozen'),
    })),
    ...itemsOf('key', began.widened, ({ label: name, frozen, created_at: at }) => ({
      name,
      note: tAccount('thing.limits'),
      at,
      outcome: frozen ? t('status.frozen') : null,
    })),
    ...itemsOf('policy', began.loosened, (one) => ({
      name: one.name,
      note: tAccount('thing.policy'),
      at: one.loosened_at,
      outcome: null,
      undo: one,
    })),
  ]
}

/** Sends the complete undo request that the service provided, typed by its method. */
const sendUndo = ({ id, workspace_id: workspace, undo: { method, body } }: Loosened, keyed: Keyed) => {
  const there = inWorkspace(workspace)
  if (method === 'POST') {
    const { headers, ...request } = keyed(body as Body<'/v1/spending-policies', 'post'>)
    return api.POST('/v1/spending-policies', { ...request, headers: { ...headers, ...there.headers } })
  }
  if (method === 'DELETE') return api.DELETE('/v1/spending-policies/{id}/pending-change', { path: { id }, ...there })
  const change = body as Body<'/v1/spending-policies/{id}', 'patch'>
  return api.PATCH('/v1/spending-policies/{id}', { path: { id }, body: change, ...there })
}

const UndoButton = ({ policy }: { policy: Loosened }) => {
  const undoing = useChange<unknown>((keyed) => sendUndo(policy, keyed), {
    announcement: tAccount('undone.what', { name: policy.name }),
    invalidates: ['policies'],
    announcesFailure: true,
  })
  return (
    <Button size="small" busy={undoing.isPending} disabled={undoing.isSuccess} onClick={() => undoing.mutate()}>
      {undoing.isSuccess ? tAccount('undone') : tAccount('undo')}
    </Button>
  )
}

const StartedItems = ({ items, ended }: { items: readonly StartedItem[]; ended: boolean }) => (
  <Rows items={items}>
    {({ icon, name, note, at, outcome, undo }) => (
      <Item
        icon={icon}
        title={
          <>
            <span>{name}</span>
            {ended &&
              (outcome === null ? (
                <Badge tone="warn">{tAccount('left_to_you')}</Badge>
              ) : (
                <Badge>{outcome ?? tAccount('ended')}</Badge>
              ))}
          </>
        }
        note={<Time at={at} before={`${note} `} />}
      >
        {ended && undo && <UndoButton policy={undo} />}
      </Item>
    )}
  </Rows>
)

const maxListed = 100

const Footnotes = ({ began }: { began: NonNullable<BeganHere> }) => (
  <>
    {began.members.some(({ status }) => status === 'active') && (
      <p>{richAccount('members_left', { link: <Link href="/workspace">{tAccount('see_members')}</Link> })}</p>
    )}
    {Object.values(began).some(({ length }) => length >= maxListed) && <p>{tAccount('newest_only', { max: maxListed })}</p>}
  </>
)

/** `endAll`: ends everything that began. Absent if the sign-in method is gone and cannot be ended again. */
type Ended = { began: BeganHere; everything: boolean; endAll?: () => Promise<BeganHere> }

const StartedDialog = ({ ended, onEnded, onClose }: { ended: Ended; onEnded: (ended: Ended) => void; onClose: () => void }) => {
  const { began, everything, endAll } = ended
  if (!began) return null
  const items = startedItems(began)
  const list = (
    <>
      <StartedItems items={items} ended={everything} />
      <Footnotes began={began} />
    </>
  )
  if (!everything && endAll && items.some(({ undo }) => !undo))
    return (
      <Confirm
        title={tAccount('stolen')}
        action={tAccount('end_all')}
        keep={tAccount('keep')}
        change={endAll}
        announcement={() => tAccount('all_ended')}
        invalidates={outdatedByEnd}
        onChanged={(now) => onEnded({ began: now, everything: true })}
        onClose={onClose}
      >
        <p>{tAccount('began.still')}</p>
        {list}
      </Confirm>
    )
  return (
    <Dialog
      title={everything ? tAccount('began.ended') : tAccount('began.stays')}
      onClose={onClose}
      footer={<Button onClick={onClose}>{t('close')}</Button>}
    >
      <div className="muted stack-s">
        <p>{everything ? tAccount('began.ended_note') : tAccount('began.stays_note')}</p>
        {list}
      </div>
    </Dialog>
  )
}

/** Dialog after ending a session or a sign-in method, shown only if something began with it. */
export const useStartedDialog = (): { show: (ended: Ended) => void; dialog: ReactNode } => {
  const [ended, setEnded] = useState<Ended | null>(null)
  const show = (one: Ended) => setEnded(one.began && startedItems(one.began).length > 0 ? one : null)
  return { show, dialog: ended && <StartedDialog ended={ended} onEnded={show} onClose={() => setEnded(null)} /> }
}
