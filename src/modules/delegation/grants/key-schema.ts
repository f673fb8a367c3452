import { z } from 'zod'
import { permissions } from '../../../auth/permissions.ts'
import { IdOut, TimeOut } from '../../../http/wire.ts'
import { Grant } from './schema.ts'

/** Here and not with the API keys, because revoking a grant publishes the keys that end with it. */
export const ApiKey = z
  .object({
    id: IdOut('api_key'),
    workspace_id: IdOut('workspace'),
    name: z.string(),
    key_prefix: z.string().meta({ description: 'The first characters of the key, to recognize it. They are not a secret.' }),
    last_four: z.string(),
    status: z.enum(['active', 'revoked', 'expired']),
    permissions: z.array(z.enum(permissions)),
    grant: Grant,
    created_at: TimeOut,
    last_used_at: TimeOut.nullable(),
    expires_at: TimeOut.nullable(),
    revoked_at: TimeOut.nullable().meta({
      description: 'When it stops working. In the future while a rotated key overlaps with its successor.',
    }),
  })
  .meta({ id: 'ApiKey' })
export type ApiKey = z.output<typeof ApiKey>
