import { useQuery } from '@tanstack/react-query'
import { type Schemas, workspacesQuery } from '../api/queries.ts'
import { chooseTheme, type Theme, theme, themes } from '../lib/choices.ts'
import { useStore } from '../lib/store.ts'
import { initials, moneyText, shortAddress, statusText } from '../lib/words.ts'
import { Icon, type IconName } from '../ui/button.tsx'
import { Menu, MenuItem } from '../ui/menu.tsx'
import { useSession, useSignOut, useSwitchWorkspace } from './session.tsx'

export const nameOf = (account: Schemas['AccountWithIdentities']): string => {
  const wallet = account.identities.find(({ provider }) => provider === 'wallet')
  return account.display_name ?? account.email ?? (wallet ? shortAddress(wallet.subject) : 'Your account')
}

const themeIcons: Readonly<Record<Theme, IconName>> = { system: 'screen', light: 'sun', dark: 'moon' }
const themeNames: Readonly<Record<Theme, string>> = { system: 'System theme', light: 'Light theme', dark: 'Dark theme' }

const ThemeItem = () => {
  const current = useStore(theme)
  const next = themes[(themes.indexOf(current) + 1) % themes.length] ?? 'system'
  return (
    <MenuItem icon={themeIcons[current]} onClick={() => chooseTheme(next)}>
      {themeNames[current]}
    </MenuItem>
  )
}

export const AccountMenu = ({ onHelp, up = false, compact = false }: { onHelp: () => void; up?: boolean; compact?: boolean }) => {
  const { account } = useSession()
  const signOut = useSignOut()
  const name = nameOf(account)
  const mark = account.display_name ? initials(account.display_name) : <Icon name="account" />
  return (
    <Menu
      label={`Account ${name}`}
      up={up}
      right={compact}
      button={
        <>
          <span className="avatar">{mark}</span>
          {!compact && <span className="grow one-line strong">{name}</span>}
        </>
      }
    >
      {(close) => (
        <>
          <MenuItem icon="account" href="/account" onClick={close}>
            Account
          </MenuItem>
          <ThemeItem />
          <MenuItem
            icon="bolt"
            onClick={() => {
              close()
              onHelp()
            }}
          >
            Keyboard shortcuts
          </MenuItem>
          <a className="menu-item" href="/docs">
            <Icon name="code" />
            API reference
          </a>
          <div className="menu-line" />
          <MenuItem icon="out" onClick={() => signOut.mutate()}>
            Sign out
          </MenuItem>
        </>
      )}
    </Menu>
  )
}

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
                  {view.workspace.balance && `, ${moneyText(view.workspace.balance.available_minor, view.workspace.currency)}`}
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
