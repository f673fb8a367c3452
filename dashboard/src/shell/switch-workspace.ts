import { useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { chooseWorkspace } from '../api/chosen-workspace.ts'
import { api } from '../api/client.ts'

/**
 * Everything that was read belongs to the workspace before, so nothing of it is kept. The service is told as well: the next sign-in
 * begins where this person worked last.
 */
export const useSwitchWorkspace = (): ((id: string, to?: string) => void) => {
  const client = useQueryClient()
  const [, navigate] = useLocation()
  return (id, to = '/') => {
    void client.cancelQueries()
    chooseWorkspace(id)
    navigate(to)
    void client.resetQueries()
    // It only makes the next sign-in begin here; a refusal changes nothing in this tab.
    void api.PUT('/v1/workspaces/current', { body: { workspace_id: id } }).catch(() => undefined)
  }
}
