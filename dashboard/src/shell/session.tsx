import { type UseQueryResult, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, use, useEffect } from 'react'
import { Redirect, useLocation } from 'wouter'
import { effectivePermissions, type Permission } from '../../../src/auth/permissions.ts'
import { adviceFor, fetchOrUnreachable, hasCode, isSignedOut } from '../api/error.ts'
import {
  accountQuery,
  api,
  chooseWorkspace,
  chosenWorkspace,
  inWorkspace,
  type Schemas,
  workspaceQuery,
  workspacesQuery,
} from '../api/queries.ts'
import { notifyChoices } from '../lib/choices.ts'
import { forgetDrafts } from '../lib/drafts.ts'
import { t } from '../lib/language.ts'
import { hasNoSession, sessionEnded } from '../lib/page-state.ts'
import { setPageZone, zoneInEffect } from '../lib/time.ts'
import { statusText } from '../lib/words.ts'
import { LinkButton } from '../ui/button.tsx'
import { EmptyCard, Failure, SkeletonCard, SkeletonText } from '../ui/page.tsx'
import { announce } from '../ui/toast.tsx'
import { useOwnLanguage } from './own-language.ts'
import { signInPath } from './paths.ts'
import { StepUp } from './step-up.tsx'

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

/**
 * Switches the workspace, and drops all loaded data, which belongs to the previous one. The service stores the choice: the next
 * sign-in starts in this workspace.
 */
export const useSwitchWorkspace = (): ((id: string, to?: string) => void) => {
  const client = useQueryClient()
  const [, navigate] = useLocation()
  return (id, to = '/') => {
    void client.cancelQueries()
    chooseWorkspace(id)
    navigate(to)
    void client.resetQueries()
    // Affects only the next sign-in, so an error changes nothing in this tab.
    void api.PUT('/v1/workspaces/current', { body: { workspace_id: id } }).catch(() => undefined)
  }
}

export const useOpenIn = (): ((workspaceId: string, path: string) => void) => {
  const { workspace } = useSession()
  const switchTo = useSwitchWorkspace()
  const [, navigate] = useLocation()
  return (id, path) => (id === workspace.id ? navigate(path) : switchTo(id, path))
}

/** Shows a form to people who may submit it. Tells others why it is missing and whom to ask. `action`: "make payments". */
export const Allowed = ({ permission, action, children }: { permission: Permission; action: string; children: ReactNode }) => {
  const { can, workspace, membership } = useSession()
  if (can(permission)) return children
  const role = statusText(membership.role).toLowerCase()
  return (
    <EmptyCard icon="lock" title={t('cannot', { action })} actions={<LinkButton href="/workspace">{t('cannot.who')}</LinkButton>}>
      {membership.status === 'suspended'
        ? t('cannot.suspended', { name: workspace.name })
        : t('cannot.role', { role: t(/^[aeiou]/.test(role) ? 'an_item' : 'a_item', { item: role }), name: workspace.name })}
    </EmptyCard>
  )
}

/** Looks for a link's target in the person's other workspaces: the link may have been opened in the wrong one. */
const useElsewhere = (apiPath: string, enabled: boolean) => {
  const { workspace } = useSession()
  const client = useQueryClient()
  return useQuery({
    queryKey: ['elsewhere', apiPath, workspace.id],
    enabled,
    retry: false,
    queryFn: async () => {
      const { data: views } = await client.ensureQueryData(workspacesQuery)
      const others = views.filter((view) => view.workspace.id !== workspace.id && view.membership.status === 'active')
      const matches = await Promise.all(
        others.map(async (view) =>
          (await fetchOrUnreachable(apiPath, inWorkspace(view.workspace.id))).ok ? view.workspace : null,
        ),
      )
      return matches.find((candidate) => candidate !== null) ?? null
    },
  })
}

/** Shown after a failed request. `apiPath`: path of the resource, to look for it in the person's other workspaces. */
const LoadFailure = ({ error, apiPath, onRetry }: { error: unknown; apiPath: string; onRetry: () => void }) => {
  const isMissing = hasCode(error, 'not_found')
  const [location] = useLocation()
  const switchTo = useSwitchWorkspace()
  const search = useElsewhere(apiPath, isMissing)
  const elsewhere = search.data
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, when the workspace is known
  useEffect(() => {
    if (!elsewhere) return
    announce(t('switched_to', { workspace: elsewhere.name }))
    switchTo(elsewhere.id, location + window.location.search)
  }, [elsewhere])
  if (isMissing && (search.isLoading || elsewhere)) return <SkeletonCard rows={3} />
  // Until the other workspaces have answered, nobody knows that the record is missing.
  if (search.isError) return <Failure error={search.error} onRetry={() => void search.refetch()} />
  return <Failure error={error} onRetry={onRetry} />
}

/** Shown until a page's record has loaded: a placeholder, or the error. */
export const LoadState = ({ query, apiPath, rows = 3 }: { query: UseQueryResult<unknown>; apiPath: string; rows?: number }) => {
  if (query.isPending) return <SkeletonCard rows={rows} />
  return query.isError && <LoadFailure error={query.error} apiPath={apiPath} onRetry={() => void query.refetch()} />
}

/** Signs out, and loads a new document, so that no data stays in memory. `to`: return path of the next sign-in. */
export const useSignOut = (to = '/') =>
  useMutation({
    mutationFn: async () => {
      await api.POST('/v1/auth/logout').catch((error: unknown) => {
        // The session has ended already.
        if (!isSignedOut(error)) throw error
      })
      // The service ends the subscription with the session. Visible notifications belong to the browser and are closed here.
      if (notifyChoices.get().push)
        await import('../lib/push.ts').then(({ unsubscribeHere }) => unsubscribeHere()).catch(() => undefined)
    },
    onSuccess: () => {
      chooseWorkspace(null)
      forgetDrafts()
      location.assign(signInPath(to))
    },
    // The sign-in page would suggest that the session has ended, while the next person at this computer could still use it.
    onError: (error) => announce(`${t('sign_out.failed')} ${adviceFor(error)}`, 'bad'),
  })
