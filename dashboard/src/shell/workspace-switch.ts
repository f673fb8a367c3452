import { useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { api, chooseWorkspace } from '../api/queries.ts'

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
