import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useLocation } from 'wouter'
import { fetchOrUnreachable, hasCode } from '../api/error.ts'
import { inWorkspace, workspacesQuery } from '../api/queries.ts'
import { t } from '../lib/language.ts'
import { Failure, SkeletonCard } from '../ui/page.tsx'
import { announce } from '../ui/toast.tsx'
import { useSession } from './session.tsx'
import { useSwitchWorkspace } from './workspace-switch.ts'

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
