import { useState } from 'react'
import { Link } from 'wouter'
import { usePeople } from '../../api/names.ts'
import { api, workspaceGrantsQuery, workspaceQuery } from '../../api/queries.ts'
import { useEvery } from '../../api/use-every.ts'
import { t } from '../../lib/language.ts'
import { capitalized, shortMoney } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Confirm, DialogButton } from '../../ui/form.tsx'
import { Item, Listing, Rows } from '../../ui/listing.tsx'
import { Badge, Card, Empty, Page } from '../../ui/page.tsx'
import { Invitations } from './invitations.tsx'
import { RevokeMemberGrant } from './member-grant-page.tsx'
import { Members } from './members.tsx'
import { tWork } from './texts.ts'
import { WorkspaceSettings } from './workspace-settings.tsx'

export const WorkspacePage = () => {
  const { can, membership } = useSession()
  const manages = can('workspace.manage')
  return (
    <Page
      title={t('workspace')}
      lead={manages ? tWork('lead.manages') : tWork('lead')}
      actions={
        <>
          {can('audit.read') && (
            <LinkButton href="/workspace/activity" icon="list">
              {tWork('activity')}
            </LinkButton>
          )}
          <LinkButton href="/workspace/new" icon="plus">
            {t('new_workspace')}
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
          <WorkspaceSettings />
        </div>
      </div>
    </Page>
  )
}

const Freeze = () => {
  const frozen = useSession().workspace.status === 'frozen'
  return (
    <Card title={frozen ? t('status.frozen') : tWork('stop')}>
      <p className="muted">{frozen ? tWork('frozen.note') : tWork('stop.note')}</p>
      <DialogButton
        variant={frozen ? 'secondary' : 'red'}
        size="large"
        icon="freeze"
        wide
        dialog={(close) => <ConfirmFreeze onClose={close} />}
      >
        {frozen ? tWork('unfreeze') : tWork('freeze')}
      </DialogButton>
    </Card>
  )
}

const ConfirmFreeze = ({ onClose }: { onClose: () => void }) => {
  const { workspace } = useSession()
  const [reason, setReason] = useState('')
  // Read once, when the dialog opens. If an answer is lost and the list reloads, a second click must not reverse the first.
  const [frozen] = useState(workspace.status === 'frozen')
  return (
    <Confirm
      title={frozen ? tWork('unfreeze.title', { name: workspace.name }) : tWork('freeze.title', { name: workspace.name })}
      action={frozen ? t('unfreeze') : tWork('freeze.now')}
      harmless={frozen}
      change={() =>
        frozen
          ? api.POST('/v1/workspaces/current/unfreeze')
          : api.POST('/v1/workspaces/current/freeze', { body: reason.trim() ? { reason: reason.trim() } : {} })
      }
      announcement={(view) => (view.workspace.status === 'frozen' ? tWork('freeze.done') : tWork('unfreeze.done'))}
      cachesAs={() => workspaceQuery}
      onClose={onClose}
    >
      <p>{frozen ? tWork('unfreeze.note') : tWork('freeze.note')}</p>
      {!frozen && (
        <TextField label={t('reason')} optional value={reason} onChange={setReason} maxLength={500} hint={tWork('reason.hint')} />
      )}
    </Confirm>
  )
}

const WorkspaceGrants = () => {
  const { currency } = useSession()
  const people = usePeople()
  // The first page may hold only revoked ones.
  useEvery(workspaceGrantsQuery)
  const none = <Empty icon="robot" title={tWork('grants.none')} />
  return (
    <Listing title={tWork('grants')} query={workspaceGrantsQuery} rows={1} empty={none}>
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
                    {grant.frozen && <Badge tone="info">{t('status.frozen')}</Badge>}
                  </>
                }
                note={tWork('used_month', {
                  capitalized: capitalized(people(grant.account_id)),
                  amount: shortMoney(grant.usage.month_minor, currency),
                })}
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
