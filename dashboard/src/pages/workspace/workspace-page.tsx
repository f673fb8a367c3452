import { useState } from 'react'
import { Link } from 'wouter'
import { usePeople } from '../../api/names.ts'
import { api, workspaceGrantsQuery, workspaceQuery } from '../../api/queries.ts'
import { capitalized, shortMoney } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Confirm, DialogButton } from '../../ui/form.tsx'
import { Item, Listing, Rows } from '../../ui/listing.tsx'
import { Badge, Card, Empty, Page } from '../../ui/page.tsx'
import { RevokeMemberGrant } from './member-grant-page.tsx'
import { Invitations, Members } from './members.tsx'
import { Settings } from './new-workspace-page.tsx'

export const WorkspacePage = () => {
  const { can, membership } = useSession()
  const manages = can('workspace.manage')
  return (
    <Page
      title="Workspace"
      lead={can('workspace.manage') ? 'Members, settings and the emergency stop.' : 'Members and settings.'}
      actions={
        <>
          {can('audit.read') && (
            <LinkButton href="/workspace/activity" icon="list">
              Activity
            </LinkButton>
          )}
          <LinkButton href="/workspace/new" icon="plus">
            New workspace
          </LinkButton>
        </>
      }
    >
      <div className="split split-aside-first">
        <div className="stack">
          <Members />
          {manages && <Invitations />}
          {membership.role === 'owner' && <WorkspaceGrants />}
        </div>
        <div className="stack split-aside">
          {manages && <Freeze />}
          <Settings />
        </div>
      </div>
    </Page>
  )
}

const Freeze = () => {
  const frozen = useSession().workspace.status === 'frozen'
  return (
    <Card title={frozen ? 'Frozen' : 'Emergency stop'}>
      <p className="quiet">
        {frozen
          ? 'No payments or changes can be made. You can still revoke, reject and cancel.'
          : 'Stops all payments by everyone and every agent in this workspace. Payments already sent still arrive.'}
      </p>
      <DialogButton
        variant={frozen ? 'secondary' : 'red'}
        size="large"
        icon="freeze"
        wide
        dialog={(close) => <ConfirmFreeze onClose={close} />}
      >
        {frozen ? 'Unfreeze workspace' : 'Freeze workspace'}
      </DialogButton>
    </Card>
  )
}

const ConfirmFreeze = ({ onClose }: { onClose: () => void }) => {
  const { workspace } = useSession()
  const [reason, setReason] = useState('')
  // What was asked stays what is asked: after a lost answer a second press must not undo the first.
  const [frozen] = useState(workspace.status === 'frozen')
  return (
    <Confirm
      title={frozen ? `Unfreeze ${workspace.name}?` : `Freeze ${workspace.name}?`}
      action={frozen ? 'Unfreeze' : 'Freeze now'}
      harmless={frozen}
      change={() =>
        frozen
          ? api.POST('/v1/workspaces/current/unfreeze')
          : api.POST('/v1/workspaces/current/freeze', { body: reason.trim() ? { reason: reason.trim() } : {} })
      }
      announcement={(view) => (view.workspace.status === 'frozen' ? 'Workspace frozen' : 'Workspace unfrozen')}
      keeps={() => workspaceQuery}
      onClose={onClose}
    >
      <p>
        {frozen
          ? 'Everyone and every agent can make payments again.'
          : 'No one can pay or change anything until an owner or administrator unfreezes it.'}
      </p>
      {!frozen && (
        <TextField
          label="Reason"
          optional
          value={reason}
          onChange={setReason}
          maxLength={500}
          hint="Shown to other members and kept in the activity."
        />
      )}
    </Confirm>
  )
}

const WorkspaceGrants = () => {
  const { currency } = useSession()
  const people = usePeople()
  const none = <Empty icon="robot" title="No keys or agents" />
  return (
    <Listing title="All keys and agents" query={workspaceGrantsQuery} rows={1} empty={none}>
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
                <RevokeMemberGrant grant={grant} />
              </Item>
            )}
          </Rows>
        )
      }}
    </Listing>
  )
}
