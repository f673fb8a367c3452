import { useSession } from '../../shell/session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { Page } from '../../ui/layout.tsx'
import { Freeze } from './freeze.tsx'
import { Invitations } from './invitations.tsx'
import { Members } from './members.tsx'
import { Settings } from './settings.tsx'
import { WorkspaceGrants } from './workspace-grants.tsx'

export const WorkspacePage = () => {
  const { can, membership } = useSession()
  const manages = can('workspace.manage')
  return (
    <Page
      title="Workspace"
      lead={can('workspace.manage') ? 'Members, settings and the emergency stop.' : 'Members and settings.'}
      actions={
        <>
          {manages && (
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
