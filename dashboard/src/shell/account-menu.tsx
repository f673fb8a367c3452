import { useQuery } from '@tanstack/react-query'
import { type Schemas, workspacesQuery } from '../api/queries.ts'
import { chooseTheme, type Theme, theme, themes } from '../lib/choices.ts'
import { t } from '../lib/language.ts'
import { useStore } from '../lib/store.ts'
import { initials, moneyText, shortAddress, statusText } from '../lib/words.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Menu, MenuItem } from '../ui/menu.tsx'
import { useOtherLanguage } from './own-language.ts'
import { useSession } from './session.tsx'
import { useSignOut } from './sign-out.ts'
import { useSwitchWorkspace } from './workspace-switch.ts'

export const nameOf = (account: Schemas['AccountWithIdentities']): string => {
  const wallet = account.identities.find(({ provider }) => provider === 'wallet')
  return account.display_name ?? account.email ?? (wallet ? shortAddress(wallet.subject) : t('your_account'))
}

const themeIcons: Readonly<Record<Theme, IconName>> = { system: 'screen', light: 'sun', dark: 'moon' }

const ThemeItem = () => {
  const current = useStore(theme)
  const next = themes[(themes.indexOf(current) + 1) % themes.length] ?? 'system'
  return (
    <MenuItem icon={themeIcons[current]} onClick={() => chooseTheme(next)}>
      {t(`theme.${current}`)}
    </MenuItem>
  )
}

export const AccountMenu = ({ onHelp, up = false, compact = false }: { onHelp: () => void; up?: boolean; compact?: boolean }) => {
  const { account } = useSession()
  const signOut = useSignOut()
  const otherLanguage = useOtherLanguage()
  const name = nameOf(account)
  const mark = account.display_name ? initials(account.display_name) : <Icon name="account" />
  return (
    <Menu
      label={t('account_named', { name })}
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
            {t('account')}
          </MenuItem>
          <MenuItem icon="language" {...otherLanguage} />
          <ThemeItem />
          <MenuItem
            icon="bolt"
            onClick={() => {
              close()
              onHelp()
            }}
          >
            {t('shortcuts')}
          </MenuItem>
          <a className="menu-item" href="/docs">
            <Icon name="code" />
            {t('api_reference')}
          </a>
          <div className="menu-line" />
          <MenuItem icon="out" onClick={() => signOut.mutate()}>
            {t('sign_out')}
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
      label={t('workspace_named', { name: workspace.name })}
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
            {t('members_and_settings')}
          </MenuItem>
          <MenuItem icon="plus" href="/workspace/new" onClick={close}>
            {t('new_workspace')}
          </MenuItem>
        </>
      )}
    </Menu>
  )
}
