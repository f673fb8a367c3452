import { useQuery } from '@tanstack/react-query'
import { workspacesQuery } from '../api/queries.ts'
import { initials, statusText } from '../lib/words.ts'
import { Icon } from '../ui/button.tsx'
import { Menu, MenuItem } from '../ui/menu.tsx'
import { useSession, useSwitchWorkspace } from './session.tsx'

export const WorkspaceMenu = () => {
  const { workspace, membership } = useSession()
  const switchTo = useSwitchWorkspace()
  const { data } = useQuery(workspacesQuery)
  const others = data?.data.filter((view) => view.workspace.id !== workspace.id) ?? []
  return (
    <Menu
      label={`Workspace ${workspace.name}`}
      button={
        <>
          <span className="avatar tone-accent">{initials(workspace.name)}</span>
          <span className="grow">
            <span className="one-line strong">{workspace.name}</span>
            <span className="one-line faint small">{statusText(membership.role)}</span>
          </span>
          <Icon name="chevron" size={16} />
        </>
      }
    >
      {(close) => (
        <>
          {others.map((view) => (
            <MenuItem
              key={view.workspace.id}
              mark={<span className="avatar">{initials(view.workspace.name)}</span>}
              onClick={() => {
                close()
                switchTo(view.workspace.id)
              }}
            >
              <span className="grow">
                {view.workspace.name}
                <br />
                <span className="faint small">
                  {statusText(view.membership.status === 'active' ? view.membership.role : view.membership.status)}
                </span>
              </span>
            </MenuItem>
          ))}
          {others.length > 0 && <div className="menu-line" />}
          <MenuItem icon="workspace" href="/workspace" onClick={close}>
            Members and settings
          </MenuItem>
          <MenuItem icon="plus" href="/workspace/new" onClick={close}>
            New workspace
          </MenuItem>
        </>
      )}
    </Menu>
  )
}
