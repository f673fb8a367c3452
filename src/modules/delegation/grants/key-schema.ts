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
