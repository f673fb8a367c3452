import { useLocation } from 'wouter'
import { useSession } from './session.tsx'
import { useSwitchWorkspace } from './workspace-switch.ts'

/** Opens a page in a workspace, switching to it if needed. */
export const useOpenIn = (): ((workspaceId: string, path: string) => void) => {
  const { workspace } = useSession()
  const switchTo = useSwitchWorkspace()
  const [, navigate] = useLocation()
  return (id, path) => (id === workspace.id ? navigate(path) : switchTo(id, path))
}
