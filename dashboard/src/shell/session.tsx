import { useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, use, useEffect } from 'react'
import { Redirect, useLocation } from 'wouter'
import { effectivePermissions, type Permission } from '../../../src/auth/permissions.ts'
import { chooseWorkspace, chosenWorkspace } from '../api/chosen-workspace.ts'
import { hasCode, isSignedOut } from '../api/error.ts'
import { accountQuery, type Schemas, workspaceQuery } from '../api/queries.ts'
import { hasNoSession } from '../lib/first-visit.ts'
import { sessionEnded } from '../lib/session-end.ts'
import { setPageZone } from '../lib/time.ts'
import { Failure, SkeletonText } from '../ui/page.tsx'
import { signInPath } from './paths.ts'
import { StepUp } from './step-up.tsx'

export type Session = {
  account: Schemas['AccountWithIdentities']
  workspace: Schemas['Workspace']
  membership: Schemas['WorkspaceView']['membership']
  currency: string
  /** The workspace draws on this account's balance. */
  ownsBalance: boolean
  can: (permission: Permission) => boolean
}

const SessionContext = createContext<Session | null>(null)

export const useSession = (): Session => {
  const session = use(SessionContext)
  if (!session) throw new Error('this page is for people who are signed in')
  return session
}

/** The permissions of a membership. */
export const permissionsOf = ({ status, role }: Schemas['WorkspaceView']['membership']): ReadonlySet<Permission> =>
  effectivePermissions(status === 'active' ? role : null, null)

/** Shows its children to people who are signed in, and the sign-in page to others. */
export const SignedIn = ({ children }: { children: ReactNode }) => {
  const [location] = useLocation()
  const client = useQueryClient()
  const stranger = hasNoSession()
  const account = useQuery({ ...accountQuery, enabled: !stranger })
  const view = useQuery({ ...workspaceQuery, enabled: !stranger })
  // The workspace chosen in this browser may be another person's, or may no longer exist.
  const lost =
    chosenWorkspace() !== null &&
    [account.error, view.error].some((error) => hasCode(error, 'not_found') || hasCode(error, 'membership_suspended'))
  useEffect(() => {
    if (!lost) return
    chooseWorkspace(null)
    void client.resetQueries()
  }, [lost, client])

  // From now on every request names it, so that a switch in another tab does not change this one.
  const current = view.data?.workspace.id
  useEffect(() => {
    if (current && chosenWorkspace() === null) chooseWorkspace(current)
  }, [current])

  const here = location + window.location.search
  if (stranger || isSignedOut(account.error)) return <Redirect to={signInPath(here, sessionEnded.get())} replace />
  if (!account.data || !view.data) {
    const error = lost ? null : (account.error ?? view.error)
    return <ShellFrame>{error && <Failure error={error} onRetry={() => void client.resetQueries()} />}</ShellFrame>
  }
  setPageZone(view.data.workspace.time_zone)
  return (
    <SessionIn account={account.data} view={view.data}>
      {children}
    </SessionIn>
  )
}

type InProps = { account: Session['account']; view: Schemas['WorkspaceView']; children: ReactNode }

/** As this account in one of its workspaces, which need not be this tab's. */
export const SessionIn = ({ account, view: { workspace, membership }, children }: InProps) => {
  const permissions = permissionsOf(membership)
  const session: Session = {
    account,
    workspace,
    membership,
    currency: workspace.currency,
    ownsBalance: workspace.owning_account_id === account.id,
    can: (permission) => permissions.has(permission),
  }
  return (
    <SessionContext value={session}>
      {children}
      <StepUp />
    </SessionContext>
  )
}

/** The page while the session loads, in the size of what follows. */
const ShellFrame = ({ children }: { children?: ReactNode }) => (
  <div className="shell">
    <aside className="sidebar" aria-hidden="true" />
    <div className="topbar" aria-hidden="true" />
    <main className="main" aria-busy={!children}>
      {children || (
        <div className="page-header">
          <SkeletonText width="180px" height={26} />
          <h1 className="visually-hidden">Loading</h1>
        </div>
      )}
    </main>
  </div>
)
