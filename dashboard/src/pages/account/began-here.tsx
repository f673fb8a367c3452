import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { api, type Body, inWorkspace, type Schemas } from '../../api/queries.ts'
import { shortAddress } from '../../lib/words.ts'
import { Button, type IconName } from '../../ui/button.tsx'
import { ChoiceField } from '../../ui/field.tsx'
import { Confirm, Dialog, useChange } from '../../ui/form.tsx'
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
  'members',
  'workspaces',
  'policies',
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
        hint: 'Sign-in methods, passkeys, API keys, agents and invitations that were added there end too. People who came by them are suspended, raised roles are lowered, and workspaces and wider limits from there are frozen. This session, and the method that it began with, are not among them.',
      },
    ]}
  />
)

type Loosened = Schemas['LoosenedPolicy']
type Thing = {
  id: string
  icon: IconName
  name: string
  note: string
  at: string
  /** What was done to it. Absent: it ends. */
  done?: string | null
  /** Not undone: left to a person. */
  undo?: Loosened
}

const memberName = ({ display_name: name, email, wallet_address: wallet, id }: Schemas['Member']): string =>
  name ?? email ?? (wallet === null ? id : shortAddress(wallet))

const peopleOf = ({ members, roles, workspaces, widened, loosened }: NonNullable<BeganHere>): Thing[] => [
  ...members.map((one) => ({
    id: one.id,
    icon: 'people' as const,
    name: memberName(one),
    note: `Member (${one.role}), joined`,
    at: one.created_at,
    done: one.status === 'suspended' ? 'Suspended' : null,
  })),
  ...roles.map((one) => ({
    id: `role ${one.id}`,
    icon: 'people' as const,
    name: memberName(one),
    note: `From ${one.role_before} to a higher role, raised`,
    at: one.raised_at,
    done: one.role === one.role_before && one.status === one.status_before ? 'Lowered' : null,
  })),
  ...workspaces.map(({ id, name, status, created_at: at }) => ({
    id,
    icon: 'people' as const,
    name,
    note: 'Workspace, made',
    at,
    done: status === 'active' ? null : 'Frozen',
  })),
  ...widened.map(({ id, label, frozen, created_at: at }) => ({
    id,
    icon: 'key' as const,
    name: label,
    note: 'Limits widened there; created',
    at,
    done: frozen ? 'Frozen' : null,
  })),
  ...loosened.map((one) => ({
    id: one.id,
    icon: 'fingerprint' as const,
    name: one.name,
    note: 'Policy, loosened',
    at: one.loosened_at,
    done: null,
    undo: one,
  })),
]

/** An accepted invitation is shown as its member. */
const thingsOf = (began: NonNullable<BeganHere>): Thing[] => {
  const { identities, passkeys, api_keys: keys, grants, invitations } = began
  return [
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
    ...invitations
      .filter(({ status }) => status !== 'accepted')
      .map(({ id, role, email, wallet_address: wallet, created_at: at }) => ({
        id,
        icon: 'people' as const,
        name: email ?? (wallet === null ? 'Invitation by link' : shortAddress(wallet)),
        note: `Invitation as ${role === 'admin' ? 'administrator' : role}, made`,
        at,
      })),
    ...peopleOf(began),
  ]
}

/** Typed by its method: the service gives the request whole. */
const sendUndo = ({ id, workspace_id: workspace, undo: { method, body } }: Loosened) => {
  const there = inWorkspace(workspace)
  if (method === 'POST')
    return api.POST('/v1/spending-policies', { body: body as Body<'/v1/spending-policies', 'post'>, ...there })
  if (method === 'DELETE') return api.DELETE('/v1/spending-policies/{id}/pending-change', { path: { id }, ...there })
  const change = body as Body<'/v1/spending-policies/{id}', 'patch'>
  return api.PATCH('/v1/spending-policies/{id}', { path: { id }, body: change, ...there })
}

const UndoButton = ({ policy }: { policy: Loosened }) => {
  const undoing = useChange<unknown>(() => sendUndo(policy), {
    announcement: `${policy.name} is as strict as before`,
    outdates: ['policies'],
    announcesFailure: true,
  })
  return (
    <Button size="small" busy={undoing.isPending} disabled={undoing.isSuccess} onClick={() => undoing.mutate()}>
      {undoing.isSuccess ? 'Undone' : 'Undo'}
    </Button>
  )
}

const Things = ({ things, ended }: { things: readonly Thing[]; ended: boolean }) => (
  <Rows items={things}>
    {({ icon, name, note, at, done, undo }) => (
      <Item
        icon={icon}
        title={
          <>
            <span>{name}</span>
            {ended && (done === null ? <Badge tone="warn">Left to you</Badge> : <Badge>{done ?? 'Ended'}</Badge>)}
          </>
        }
        note={<Time at={at} before={`${note} `} />}
      >
        {ended && undo && <UndoButton policy={undo} />}
      </Item>
    )}
  </Rows>
)

const mostListed = 100

const Footnotes = ({ began }: { began: NonNullable<BeganHere> }) => (
  <>
    {began.members.some(({ status }) => status === 'active') && (
      <p>
        Members who are still active are left to you. <Link href="/workspace">See members</Link>
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
      <Footnotes began={began} />
    </>
  )
  if (!everything && endAll && things.some(({ undo }) => !undo))
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
