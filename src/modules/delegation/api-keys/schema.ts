import { z } from 'zod'
import { permissions } from '../../../auth/permissions.ts'
import { Name, TimeIn } from '../../../http/wire.ts'
import { ApiKey } from '../grants/key-schema.ts'
import { SpendingControlsChange, SpendingControlsIn } from '../grants/schema.ts'

export const NewApiKey = ApiKey.extend({
  key: z
    .string()
    .optional()
    .meta({ description: 'The key itself, in this answer only. A replay of the answer does not contain it.' }),
}).meta({ id: 'NewApiKey' })

export const CreateApiKey = z
  .strictObject({
    name: Name,
    permissions: z
      .array(z.enum(permissions))
      .min(1)
      .optional()
      .meta({ description: 'Left out: the permissions of the caller, without those that only a person should have.' }),
    spending_controls: SpendingControlsIn.optional(),
    expires_at: TimeIn.optional(),
  })
  .meta({ id: 'CreateApiKey' })
export type CreateApiKey = z.output<typeof CreateApiKey>

export const UpdateApiKey = z
  .strictObject({ name: Name, spending_controls: SpendingControlsChange })
  .partial()
  .meta({ id: 'UpdateApiKey' })
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
  .meta({ id: 'RotateApiKey' })
  .nullish()
