import { z } from 'zod'
import { roles, workspaceKinds } from '../../db/tables/workspaces.ts'
import { IdOut, TimeOut } from '../../http/wire.ts'

export const Workspace = z
  .object({
    id: IdOut('workspace'),
    name: z.string(),
    kind: z.enum(workspaceKinds),
    status: z.enum(['active', 'frozen', 'closed']),
    time_zone: z.string(),
    currency: z.string(),
    owning_account_id: IdOut('account'),
    created_at: TimeOut,
  })
  .meta({ id: 'Workspace' })
export type Workspace = z.output<typeof Workspace>

export const WorkspaceView = z
  .object({
    workspace: Workspace,
    membership: z.object({ role: z.enum(roles), status: z.enum(['active', 'invited', 'suspended']) }),
  })
  .meta({ id: 'WorkspaceView' })
export type WorkspaceView = z.output<typeof WorkspaceView>
