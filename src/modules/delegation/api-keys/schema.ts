import { z } from 'zod'
import { permissions } from '../../../auth/permissions.ts'
import { Name, TimeIn } from '../../../http/wire.ts'
import { ApiKey } from '../grants/key-schema.ts'
import { SpendingControlsChange, SpendingControlsIn } from '../grants/schema.ts'

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

/** Optional: without a body the old key ends at once. */
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
