import { useQueries, useQuery } from '@tanstack/react-query'
import { isExcludedRequester, needsOpening, ownDecision } from '../lib/approval-subject.ts'
import { permissionsOf, useSession } from '../shell/session.tsx'
import { api, everyPage, inWorkspace, parametersOf, type Schemas, workspacesQuery } from './queries.ts'

type Approval = Schemas['Approval']
type View = Pick<Schemas['WorkspaceView'], 'workspace' | 'membership'>

export type InboxItem = { approval: Approval; workspace: Schemas['Workspace'] }

export const inboxQuery = (workspaceId: string) => ({
  queryKey: ['inbox', workspaceId],
  queryFn: () =>
    everyPage((cursor) =>
      api.GET('/v1/approvals', {
        query: parametersOf({ status: 'pending', limit: 100, cursor }),
        ...inWorkspace(workspaceId),
      }),
    ),
})

/** Whether the approval waits for this person: a named approver, if the policy names any, without a decision that counts. */
export const isForMe = (approval: Approval, accountId: string): boolean =>
  (approval.approver_ids?.includes(accountId) ?? true) &&
  ownDecision(approval, accountId) === undefined &&
  !isExcludedRequester(approval, accountId)

const decides = ({ membership }: View): boolean => permissionsOf(membership).has('approval.decide')

const byExpiry = (a: InboxItem, b: InboxItem): number => Date.parse(a.approval.expires_at) - Date.parse(b.approval.expires_at)

/** Puts approvals that need a closer look first, then sorts by expiry. */
const byCaution = (a: InboxItem, b: InboxItem): number =>
  Number(needsOpening(b.approval)) - Number(needsOpening(a.approval)) || byExpiry(a, b)

export type Inbox = {
  /** Approvals of all workspaces that this person can decide: first the ones that need a closer look, then the most urgent. */
  forMe: InboxItem[]
  /** Other pending approvals, in the workspaces whose approvals this person can see. */
  others: InboxItem[]
  isPending: boolean
  error: unknown
  /** Time of the oldest data that is still shown after a failed reload. Null if there is none. */
  staleSince: number | null
  /** Whether approvals of another workspace are shown, so that each row names its workspace. */
  hasOtherWorkspaces: boolean
}

const oldest = (times: readonly number[]): number | null => (times.length > 0 ? Math.min(...times) : null)

export const useInbox = (): Inbox => {
  const { account, workspace, membership } = useSession()
  const { data } = useQuery(workspacesQuery)
  const here: View = { workspace, membership }
  const elsewhere = data?.data.filter((view) => view.workspace.id !== workspace.id && decides(view)) ?? []
  const views = permissionsOf(membership).has('approval.read') ? [here, ...elsewhere] : elsewhere
  return useQueries({
    queries: views.map((view) => inboxQuery(view.workspace.id)),
    combine: (results) => {
      const items = results.flatMap(({ data: approvals = [] }, index) => {
        const view = views[index]
        return view ? approvals.map((approval) => ({ approval, workspace: view.workspace, decides: decides(view) })) : []
      })
      const forMe = items.filter((item) => item.decides && isForMe(item.approval, account.id))
      const others = items.filter((item) => !forMe.includes(item))
      return {
        forMe: forMe.sort(byCaution),
        others: others.sort(byExpiry),
        isPending: results.some(({ isPending }) => isPending),
        error: results.find(({ error }) => error)?.error ?? null,
        staleSince: oldest(results.flatMap(({ isError, data, dataUpdatedAt }) => (isError && data ? [dataUpdatedAt] : []))),
        hasOtherWorkspaces: items.some((item) => item.workspace.id !== workspace.id),
      }
    },
  })
}
