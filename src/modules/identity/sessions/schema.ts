import { z } from 'zod'
import { IdOut, TimeOut } from '../../../http/wire.ts'

export const Session = z
  .object({
    id: IdOut('session'),
    status: z.enum(['active', 'revoked', 'expired']),
    current: z.boolean().meta({ description: 'The session of this request.' }),
    ip: z.string().nullable(),
    user_agent: z.string().nullable(),
    created_at: TimeOut,
    last_used_at: TimeOut,
    expires_at: TimeOut,
    revoked_at: TimeOut.nullable(),
  })
  .meta({ id: 'Session' })
export type Session = z.output<typeof Session>
