import { z } from 'zod'
import { permissions } from '../../../auth/permissions.ts'
import { IdOut, Name, TimeIn, TimeOut } from '../../../http/wire.ts'
import { Grant, SpendingControlsChange, SpendingControlsIn } from '../grants/schema.ts'

export const ApiKey = z
  .object({
    id: IdOut('api_key'),
    workspace_id: IdOut('workspace'),
    name: z.string(),
    key_prefix: z.string().meta({ description: 'How the key begins: names it, proves nothing.' }),
    last_four: z.string(),
    status: z.enum(['active', 'revoked', 'expired']),
    permissions: z.array(z.enum(permissions)),
    grant: Grant,
    created_at: TimeOut,
    last_used_at: TimeOut.nullable(),
    expires_at: TimeOut.nullable(),
    revoked_at: TimeOut.nullable().meta({ description: 'In the future while a rotated key overlaps with its successor.' }),
  })
  .meta({ id: 'ApiKey' })
export type ApiKey = z.output<typeof ApiKey>

export const NewApiKey = ApiKey.extend({
  key: z
    .string()
    .optional()
    .meta({ description: 'The key itself. Shown in this one answer only; a replay of it leaves the key out.' }),
}).meta({ id: 'NewApiKey' })

export const CreateApiKey = z.strictObject({
  name: Name,
  permissions: z
    .array(z.enum(permissions))
    .min(1)
    .optional()
    .meta({ description: 'Left out: what the caller has itself, less what only a person should do.' }),
  spending_controls: SpendingControlsIn.optional(),
  expires_at: TimeIn.optional(),
})
export type CreateApiKey = z.output<typeof CreateApiKey>

export const UpdateApiKey = z.strictObject({ name: Name, spending_controls: SpendingControlsChange }).partial()
export type UpdateApiKey = z.output<typeof UpdateApiKey>

/** May be left out altogether: then the old key ends at once. */
export const RotateApiKey = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(86_400)
      .optional()
      .meta({ description: 'How long the old key still works beside the new one; 0 when left out.' }),
  })
  .nullish()
