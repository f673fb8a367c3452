import { useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { chooseWorkspace } from '../api/chosen-workspace.ts'
import { api } from '../api/client.ts'
import { useSession } from './session.tsx'

/**
 * Everything that was loaded belongs to the previous workspace, so it is dropped. The service stores the choice: the next sign-in
 * starts in this workspace.
 */
export const useSwitchWorkspace = (): ((id: string, to?: string) => void) => {
  const client = useQueryClient()
  const [, navigate] = useLocation()
  return (id, to = '/') => {
    void client.cancelQueries()
    chooseWorkspace(id)
    navigate(to)
    void client.resetQueries()
    // It only affects the next sign-in; a refusal changes nothing in this tab.
    void api.PUT('/v1/workspaces/current', { body: { workspace_id: id } }).catch(() => undefined)
  }
}

/** Opens a page of a workspace, which need not be this tab's. */
export const useOpenIn = (): ((workspaceId: string, path: string) => void) => {
  const { workspace } = useSession()
  const switchTo = useSwitchWorkspace()
  const [, navigate] = useLocation()
  return (id, path) => (id === workspace.id ? navigate(path) : switchTo(id, path))
}
