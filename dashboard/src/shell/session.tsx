import { useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, use, useEffect } from 'react'
import { Redirect, useLocation } from 'wouter'
import { effectivePermissions, type Permission } from '../../../src/auth/permissions.ts'
import { hasCode, isSignedOut } from '../api/error.ts'
import { accountQuery, chooseWorkspace, chosenWorkspace, type Schemas, workspaceQuery, workspacesQuery } from '../api/queries.ts'
import { t } from '../lib/language.ts'
import { hasNoSession, sessionEnded } from '../lib/page-state.ts'
import { setPageZone, zoneInEffect } from '../lib/time.ts'
import { Failure, SkeletonText } from '../ui/page.tsx'
import { announce } from '../ui/toast.tsx'
import { useOwnLanguage } from './own-language.ts'
import { signInPath } from './paths.ts'
import { StepUp } from './step-up.tsx'
import { useSwitchWorkspace } from './workspace-switch.ts'

export type Session = {
  account: Schemas['AccountWithIdentities']
  workspace: Schemas['Workspace']
  membership: Schemas['WorkspaceView']['membership']
  currency: string
  /** Balance that the workspace pays from; null if this reader may not see it. */
  balance: Schemas['Workspace']['balance']
  /** Whether this reader may see the balance. */
  seesBalance: boolean
  /** Whether the team has its own balance: history and statements then belong to the workspace, not the account. */
  hasOwnBalance: boolean
  /** Whether this account owns the workspace. */
  isOwningAccount: boolean
  can: (permission: Permission) => boolean
}

const SessionContext = createContext<Session | null>(null)

export const useSession = (): Session => {
  const session = use(SessionContext)
  if (!session) throw new Error('this page is for people who are signed in')
  return session
}

export const permissionsOf = ({ status, role }: Schemas['WorkspaceView']['membership']): ReadonlySet<Permission> =>
  effectivePermissions(status === 'active' ? role : null, null)

/** Shows its children to signed-in people, and redirects others to the sign-in page. */
export const SignedIn = ({ children }: { children: ReactNode }) => {
  const [location] = useLocation()
  const client = useQueryClient()
  const here = location + window.location.search
  const isStranger = hasNoSession()
  const account = useQuery({ ...accountQuery, enabled: !isStranger })
  const view = useQuery({ ...workspaceQuery, enabled: !isStranger })
  // The workspace chosen in this tab may be another person's, or may no longer exist.
  const isChoiceInvalid =
    chosenWorkspace() !== null &&
    [account.error, view.error].some((error) => hasCode(error, 'not_found') || hasCode(error, 'membership_suspended'))
  useEffect(() => {
    if (!isChoiceInvalid) return
    chooseWorkspace(null)
    void client.resetQueries()
  }, [isChoiceInvalid, client])

  // A session whose person has left its workspace, or was removed from it, continues in the personal one.
  const isRemoved = hasCode(view.error, 'forbidden')
  const workspaces = useQuery({ ...workspacesQuery, enabled: isRemoved })
  const switchTo = useSwitchWorkspace()
  const isPersonal = ({ workspace }: Schemas['WorkspaceView']) =>
    workspace.kind === 'personal' && workspace.owning_account_id === account.data?.id
  const personalWorkspace = isRemoved ? workspaces.data?.data.find(isPersonal)?.workspace : undefined
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, when the workspace is known
  useEffect(() => {
    if (!personalWorkspace) return
    announce(t('moved_to', { workspace: personalWorkspace.name }), 'info')
    switchTo(personalWorkspace.id, here)
  }, [personalWorkspace])

  // Every later request names this workspace, so that a switch in another tab does not change this one.
  const current = view.data?.workspace.id
  useEffect(() => {
    if (current && chosenWorkspace() === null) chooseWorkspace(current)
  }, [current])

  if (isStranger || isSignedOut(account.error)) return <Redirect to={signInPath(here, sessionEnded.get())} replace />
  if (!account.data || !view.data) {
    const error = isChoiceInvalid ? null : (account.error ?? (isRemoved ? workspaces.error : view.error))
    return <ShellFrame>{error && <Failure error={error} onRetry={() => void client.resetQueries()} />}</ShellFrame>
  }
  setPageZone(zoneInEffect(view.data.workspace))
  return (
    <SessionIn account={account.data} view={view.data}>
      {children}
    </SessionIn>
  )
}

type InProps = { account: Session['account']; view: Schemas['WorkspaceView']; children: ReactNode }

/** Provides the session of this account in one of its workspaces, which may differ from this tab's workspace. */
export const SessionIn = ({ account, view: { workspace, membership }, children }: InProps) => {
  useOwnLanguage(account.id)
  const permissions = permissionsOf(membership)
  const session: Session = {
    account,
    workspace,
    membership,
    currency: workspace.currency,
    balance: workspace.balance,
    seesBalance: workspace.balance !== null,
    hasOwnBalance: workspace.kind === 'team' && !workspace.balance_shared,
    isOwningAccount: workspace.owning_account_id === account.id,
    can: (permission) => permissions.has(permission),
  }
  return (
    <SessionContext value={session}>
      {children}
      <StepUp />
    </SessionContext>
  )
}

/** The page while the session loads, in its final size. */
const ShellFrame = ({ children }: { children?: ReactNode }) => (
  <div className="shell">
    <aside className="sidebar no-print" aria-hidden="true" />
    <div className="topbar no-print" aria-hidden="true" />
    <main className="main" aria-busy={!children}>
      {children || (
        <div className="page-header">
          <SkeletonText width="180px" height={26} />
          <h1 className="visually-hidden">{t('loading')}</h1>
        </div>
      )}
    </main>
  </div>
)
