import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../api/queries.ts'
import { shortAddress } from '../../lib/words.ts'
import { Button, type IconName } from '../../ui/button.tsx'
import { ChoiceField } from '../../ui/field.tsx'
import { Confirm, Dialog } from '../../ui/form.tsx'
import { Item, Rows } from '../../ui/listing.tsx'
import { Badge, Time } from '../../ui/page.tsx'
import { identityName } from '../../ui/provider-mark.tsx'

export type BeganHere = Schemas['BeganHere'] | null

/** The queries that show what may end, by the first part of their keys. */
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
]

export const endQuery = (everything: boolean) => (everything ? { end: 'everything' as const } : {})

/** Asked before, because what is gone can no longer be asked what began with it. */
export const WasItStolen = ({ stolen, onChange }: { stolen: boolean; onChange: (stolen: boolean) => void }) => (
  <ChoiceField
    label="Was it stolen?"
    value={stolen ? 'yes' : 'no'}
    onChange={(value) => onChange(value === 'yes')}
    choices={[
      { value: 'no', label: 'No', hint: 'What was added there stays.' },
      {
        value: 'yes',
        label: 'Yes, or I’m not sure',
        hint: 'Sign-in methods, passkeys, API keys, agents and invitations that were added there end too. This session, and the method that it began with, are not among them.',
      },
    ]}
  />
)

type Thing = { id: string; icon: IconName; name: string; note: string; at: string; isMember?: boolean }

const thingsOf = ({ identities, passkeys, api_keys: keys, grants, invitations }: NonNullable<BeganHere>): Thing[] => [
  ...identities.map((one) => ({
    id: one.id,
    icon: one.provider === 'wallet' ? ('wallet' as const) : ('account' as const),
    name: identityName(one),
    note: 'Sign-in method, linked',
    at: one.created_at,
  })),
  ...passkeys.map(({ id, name, created_at: at }) => ({ id, icon: 'fingerprint' as const, name, note: 'Passkey, added', at })),
  ...keys.map(({ id, name, created_at: at }) => ({ id, icon: 'key' as const, name, note: 'API key, created', at })),
  ...grants
    .filter(({ id }) => !keys.some(({ grant }) => grant.id === id))
    .map(({ id, kind, label, created_at: at }) => ({
      id,
      icon: kind === 'oauth' ? ('robot' as const) : ('key' as const),
      name: label,
      note: kind === 'oauth' ? 'Agent, allowed' : 'API key, created',
      at,
    })),
  ...invitations.map(({ id, role, email, wallet_address: wallet, status, created_at: at }) => ({
    id,
    icon: 'people' as const,
    name: email ?? (wallet === null ? 'Invitation by link' : shortAddress(wallet)),
    note: `Invitation as ${role === 'admin' ? 'administrator' : role}, made`,
    at,
    isMember: status === 'accepted',
  })),
]

const Things = ({ things, ended }: { things: readonly Thing[]; ended: boolean }) => (
  <Rows items={things}>
    {({ icon, name, note, at, isMember }) => (
      <Item
        icon={icon}
        title={
          <>
            <span>{name}</span>
            {isMember ? <Badge tone="warn">Is a member now</Badge> : ended && <Badge>Ended</Badge>}
          </>
        }
        note={<Time at={at} before={`${note} `} />}
      />
    )}
  </Rows>
)

const mostListed = 100

const Footnotes = ({ began, things }: { began: NonNullable<BeganHere>; things: readonly Thing[] }) => (
  <>
    {things.some(({ isMember }) => isMember) && (
      <p>
        Who accepted an invitation stays until you remove them. <Link href="/workspace">See members</Link>
      </p>
    )}
    {Object.values(began).some(({ length }) => length >= mostListed) && (
      <p>Only the newest {mostListed} of each kind are listed.</p>
    )}
  </>
)

/** `endAll`: absent where what was ended is gone and can be ended only once. */
type Ended = { began: BeganHere; everything: boolean; endAll?: () => Promise<BeganHere> }

const Began = ({ ended, onEnded, onClose }: { ended: Ended; onEnded: (ended: Ended) => void; onClose: () => void }) => {
  const { began, everything, endAll } = ended
  if (!began) return null
  const things = thingsOf(began)
  const list = (
    <>
      <Things things={things} ended={everything} />
      <Footnotes began={began} things={things} />
    </>
  )
  if (!everything && endAll && things.some(({ isMember }) => !isMember))
    return (
      <Confirm
        title="Was it stolen?"
        action="End all of it"
        keep="Keep it"
        change={endAll}
        announcement={() => 'All of it ended'}
        outdates={outdatedByEnd}
        onChanged={(now) => onEnded({ began: now, everything: true })}
        onClose={onClose}
      >
        <p>It has ended. This was added there, and still works:</p>
        {list}
      </Confirm>
    )
  return (
    <Dialog
      title={everything ? 'What was ended' : 'What stays'}
      onClose={onClose}
      footer={<Button onClick={onClose}>Close</Button>}
    >
      <div className="quiet stack-s">
        <p>
          {everything
            ? 'This was added there, and ended with it:'
            : 'This was added there, and still works. If you don’t know it, end it where it is listed.'}
        </p>
        {list}
      </div>
    </Dialog>
  )
}

/** The dialog after an end, and what opens it: only where something began there. */
export const useBegan = (): { show: (ended: Ended) => void; dialog: ReactNode } => {
  const [ended, setEnded] = useState<Ended | null>(null)
  const show = (one: Ended) => setEnded(one.began && thingsOf(one.began).length > 0 ? one : null)
  return { show, dialog: ended && <Began ended={ended} onEnded={show} onClose={() => setEnded(null)} /> }
}
