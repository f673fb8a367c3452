import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useLocation } from 'wouter'
import { inWorkspace } from '../api/client.ts'
import { hasCode } from '../api/error.ts'
import { workspacesQuery } from '../api/queries.ts'
import { Failure, SkeletonCard } from '../ui/page.tsx'
import { announce } from '../ui/toast.tsx'
import { useSession } from './session.tsx'
import { useSwitchWorkspace } from './switch-workspace.ts'

/** A link may have been opened in another workspace: looks for its target in each of the person's own workspaces. */
const useWorkspaceOf = (path: string, lost: boolean) => {
  const { workspace } = useSession()
  const views = useQuery({ ...workspacesQuery, enabled: lost })
  const others = views.data?.data.filter((view) => view.workspace.id !== workspace.id && view.membership.status === 'active')
  return useQuery({
    queryKey: ['elsewhere', path, workspace.id],
    enabled: lost && others !== undefined,
    retry: false,
    queryFn: async () => {
      const matches = await Promise.all(
        (others ?? []).map(async (view) => ((await fetch(path, inWorkspace(view.workspace.id))).ok ? view.workspace : null)),
      )
      return matches.find((candidate) => candidate !== null) ?? null
    },
  })
}

/** Shown when a request failed. `path`: the API's path of the resource, to look for it in the person's other workspaces. */
const LoadFailure = ({ error, path, onRetry }: { error: unknown; path: string; onRetry: () => void }) => {
  const lost = hasCode(error, 'not_found')
  const [location] = useLocation()
  const switchTo = useSwitchWorkspace()
  const { data: elsewhere, isPending } = useWorkspaceOf(path, lost)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it is known
  useEffect(() => {
    if (!elsewhere) return
    announce(`Switched to ${elsewhere.name} to open this link`)
    switchTo(elsewhere.id, location)
  }, [elsewhere])
  if (lost && (isPending || elsewhere)) return <SkeletonCard rows={3} />
  return <Failure error={error} onRetry={onRetry} />
}

/** A record that a page is about, until it is there: that it is loading, or why it failed. */
export const LoadState = ({ query, path, rows = 3 }: { query: UseQueryResult<unknown>; path: string; rows?: number }) => {
  if (query.isPending) return <SkeletonCard rows={rows} />
  return query.isError && <LoadFailure error={query.error} path={path} onRetry={() => void query.refetch()} />
}
