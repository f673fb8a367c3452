import { z } from 'zod'
import { roles, workspaceKinds } from '../../db/tables/workspaces.ts'
import { bounded, IdIn, IdOut, Name, TimeOut, VisibleText } from '../../http/wire.ts'
import { isTimeZone } from '../../policy/calendar.ts'

export const Workspace = z
  .object({
    id: IdOut('workspace'),
    name: z.string(),
    kind: z.enum(workspaceKinds),
    status: z.enum(['active', 'frozen', 'closed']),
    time_zone: z
      .string()
      .meta({ description: 'Decides when a day and a month begin. A new one applies from the next local month.' }),
    currency: z.string(),
    owning_account_id: IdOut('account').meta({ description: 'Whose balance pays; never changes.' }),
    created_at: TimeOut,
  })
  .meta({ id: 'Workspace' })
export type Workspace = z.output<typeof Workspace>

export const Role = z.enum(roles)

export const WorkspaceView = z
  .object({
    workspace: Workspace,
    membership: z
      .object({ role: Role, status: z.enum(['active', 'invited', 'suspended']) })
      .meta({ description: 'What the account is in it.' }),
  })
  .meta({ id: 'WorkspaceView' })
export type WorkspaceView = z.output<typeof WorkspaceView>

const TimeZone = bounded(100)
  .refine(isTimeZone, 'must be a time zone of the IANA database, as Africa/Nairobi')
  .meta({ example: 'Africa/Nairobi' })

export const CreateWorkspace = z.strictObject({ name: Name, time_zone: TimeZone.optional() }).meta({ id: 'CreateWorkspace' })
export type CreateWorkspace = z.output<typeof CreateWorkspace>

export const UpdateWorkspace = z.strictObject({ name: Name, time_zone: TimeZone }).partial().meta({ id: 'UpdateWorkspace' })
export type UpdateWorkspace = z.output<typeof UpdateWorkspace>

export const SwitchWorkspace = z.strictObject({ workspace_id: IdIn('workspace') }).meta({ id: 'SwitchWorkspace' })

/** An optional sentence for the audit log and for the members; the body may be left out. */
export const reasoned = (id: string) =>
  z
    .strictObject({ reason: VisibleText(500) })
    .partial()
    .meta({ id })
    .nullish()
    .transform((body) => body ?? {})

export const FreezeWorkspace = reasoned('FreezeWorkspace')
export const SuspendWorkspace = reasoned('SuspendWorkspace')
export const ReinstateWorkspace = reasoned('ReinstateWorkspace')
