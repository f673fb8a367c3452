import { useSession } from '../../shell/session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { PageHeader } from '../../ui/layout.tsx'
import { Freeze } from './freeze.tsx'
import { Invitations } from './invitations.tsx'
import { Members } from './members.tsx'
import { Settings } from './settings.tsx'
import { WorkspaceGrants } from './workspace-grants.tsx'

export const WorkspacePage = () => {
  const { can, membership } = useSession()
  const manages = can('workspace.manage')
  return (
    <div className="stack">
      <PageHeader
        title="Workspace"
        lead="Who works here, what they may do, and the button that stops everything."
        actions={
          <LinkButton href="/workspace/new" icon="plus">
            New workspace
          </LinkButton>
        }
      />
      <div className="split">
        <div className="stack">
          <Members />
          {manages && <Invitations />}
          {membership.role === 'owner' && <WorkspaceGrants />}
        </div>
        <div className="stack split-aside">
          <Settings />
          {manages && <Freeze />}
        </div>
      </div>
    </div>
  )
}
