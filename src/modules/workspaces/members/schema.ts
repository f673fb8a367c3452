import { z } from 'zod'
import { memberStatuses } from '../../../db/tables/workspaces.ts'
import { IdOut, TimeOut } from '../../../http/wire.ts'
import { Role } from '../schema.ts'

export const Member = z
  .object({
    id: IdOut('member'),
    workspace_id: IdOut('workspace'),
    account_id: IdOut('account'),
    email: z.string().nullable(),
    display_name: z.string().nullable(),
    wallet_address: z
      .string()
      .nullable()
      .meta({ description: 'The wallet that was linked first, for people without a name or an e-mail.' }),
    role: Role,
    status: z.enum([...memberStatuses, 'removed']),
    created_at: TimeOut,
    updated_at: TimeOut,
  })
  .meta({ id: 'Member' })
export type Member = z.output<typeof Member>

export const UpdateMember = z
  .strictObject({ role: Role, status: z.enum(memberStatuses) })
  .partial()
  .meta({ id: 'UpdateMember' })
export type UpdateMember = z.output<typeof UpdateMember>
